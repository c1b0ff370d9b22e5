/** A fault of an expression, or of its result, in words for the expression's author. */
export class MappingProblem extends Error {
  override readonly name: string = "MappingProblem";
}
