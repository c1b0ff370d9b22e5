/** What is wrong with an expression, or with what it yields, in words for its author. */
export class MappingProblem extends Error {
  override readonly name: string = "MappingProblem";
}
