import { TreeInterpreter, type JSONValue } from "@jmespath-community/jmespath";
import { MappingProblem } from "./problem.ts";

/** As it is in the library, where its last member is private. */
interface Interpreter extends Pick<typeof TreeInterpreter, "visit"> {
  readonly _scope: Scope;
}

/** The variables of a `let`, and those of the ones around it. */
interface Scope {
  readonly data: Readonly<Record<string, JSONValue>>;
  readonly inner?: Scope;
}

type Value = Parameters<Interpreter["visit"]>[1];

/**
 * Has the library look up fields and variables, for the whole process, as JMESPath has it: it takes what an object
 * inherits (`constructor`) for a field of it, and of the variables of an outer `let` it knows no null, false, 0 or "".
 */
export function correctLookups(): void {
  const prototype = Object.getPrototypeOf(TreeInterpreter) as Interpreter;
  const { visit } = prototype;
  prototype.visit = function (this: Interpreter, node, value) {
    if (node.type === "Field") return field(value, node.name);
    if (node.type === "Variable") return variable(this._scope, node.name);
    return visit.call(this, node, value);
  };
}

function field(value: Value, name: string): Value {
  if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return null;
  return (value as Readonly<Record<string, Value>>)[name] ?? null;
}

function variable(scope: Scope, name: string): JSONValue {
  for (let at: Scope | undefined = scope; at; at = at.inner) {
    if (Object.hasOwn(at.data, name)) return at.data[name] ?? null;
  }
  throw new MappingProblem(`names an undefined variable: $${name.slice(0, 50)}`);
}
