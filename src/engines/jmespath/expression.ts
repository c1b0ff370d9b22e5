import { compile, getRegisteredFunctions, type TreeInterpreter } from "@jmespath-community/jmespath";
import { MappingProblem } from "./protocol.ts";

/** The library's syntax tree. */
export type Expression = Parameters<typeof TreeInterpreter.search>[0];

/** In UTF-16 units; longer texts take long to compile. */
const mostExpressionCharacters = 4_096;

const functions = new Set(getRegisteredFunctions());
const takers = new Set(["group_by", "map", "max_by", "min_by", "sort_by"]);

/** Throws a MappingProblem, also for unknown functions and misplaced expressions, which the library finds late. */
export function compileExpression(text: string): Expression {
  if (text.length > mostExpressionCharacters) {
    throw new MappingProblem(`must be at most ${mostExpressionCharacters} characters long`);
  }
  const tree = asProblem(() => compile(text), "is not a JMESPath expression");
  for (const { node, isArgument } of nodesOf(tree)) {
    if (node.type === "ExpressionReference" && !isArgument) {
      throw new MappingProblem("&: an expression can only be given to a function that takes one");
    }
    if (node.type === "Function" && !functions.has(String(node.name))) {
      throw new MappingProblem(`${String(node.name).slice(0, 50)}: there is no such function`);
    }
  }
  return tree;
}

/** Turns errors of the library into MappingProblems. */
export function asProblem<Result>(run: () => Result, otherwise: string): Result {
  try {
    return run();
  } catch (error) {
    if (error instanceof MappingProblem) throw error;
    if (error instanceof RangeError && /call stack/.test(error.message)) {
      throw new MappingProblem("is nested too deep");
    }
    // The library throws plain Errors; V8's messages do not help an expression's author.
    const worded = error instanceof Error && error.constructor === Error && /^[\x20-\x7e]{1,200}$/.test(error.message);
    throw new MappingProblem(worded ? `${otherwise}: ${error.message}` : otherwise);
  }
}

interface Node {
  readonly type?: string;
  readonly name?: unknown;
}

/** Every node of a tree, which may be deep, and whether it is an argument of a function that takes expressions. */
function* nodesOf(root: Expression): Generator<{ readonly node: Node; readonly isArgument: boolean }> {
  const open = [{ node: root as Node, isArgument: false }];
  for (let next = open.pop(); next; next = open.pop()) {
    yield next;
    const { node } = next;
    if (node.type === "Literal") continue;
    const isArgument = node.type === "Function" && takers.has(String(node.name));
    for (const part of Object.values(node).flat() as unknown[]) {
      if (typeof part === "object" && part !== null) open.push({ node: part, isArgument });
    }
  }
}
