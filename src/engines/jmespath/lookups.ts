import { TreeInterpreter, TYPE_OBJECT, type JSONValue } from "@jmespath-community/jmespath";
import { MappingProblem } from "./protocol.ts";

interface Interpreter extends Pick<typeof TreeInterpreter, "visit"> {
  readonly _scope: Scope;
}

interface Scope {
  readonly data: Readonly<Record<string, JSONValue>>;
  readonly inner?: Scope;
}

/** As in the library, where it is private and needs no `this`. */
interface Types {
  getTypeName: (value: unknown) => number | undefined;
}

/** The type of numbers that keep their digits: no function takes it. */
const largeNumber = 100;

type Value = Parameters<Interpreter["visit"]>[1];

/**
 * Corrects the library, which takes inherited properties (`constructor`) for fields, ignores an outer `let`'s variables
 * that are null, false, 0 or "", and would evaluate a payload's object with a field `expref`.
 */
export function correctLookups(): void {
  const references = new WeakSet<object>();
  const { runtime } = TreeInterpreter;
  const names = { ...runtime.TYPE_NAME_TABLE, [largeNumber]: "large number" };
  Object.assign(runtime, { TYPE_NAME_TABLE: names });
  const types = Object.getPrototypeOf(runtime) as Types;
  const { getTypeName } = types;
  types.getTypeName = (value) => {
    if (JSON.isRawJSON(value)) return largeNumber;
    const isData = typeof value === "object" && value !== null && !Array.isArray(value) && !references.has(value);
    return isData ? TYPE_OBJECT : getTypeName(value);
  };
  const prototype = Object.getPrototypeOf(TreeInterpreter) as Interpreter;
  const { visit } = prototype;
  prototype.visit = function (this: Interpreter, node, value) {
    if (node.type === "Field") return field(value, node.name);
    if (node.type === "Variable") return variable(this._scope, node.name);
    if (node.type === "ValueProjection") {
      const projected = this.visit(node.left, value);
      if (JSON.isRawJSON(projected)) return null;
      const left: typeof node.left = { type: "Literal", value: projected as JSONValue };
      return visit.call(this, { ...node, left }, value);
    }
    const result = visit.call(this, node, value);
    if (node.type === "ExpressionReference") references.add(result as object);
    return result;
  };
}

function field(value: Value, name: string): Value {
  if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return null;
  if (JSON.isRawJSON(value)) return null;
  return (value as Readonly<Record<string, Value>>)[name] ?? null;
}

function variable(scope: Scope, name: string): JSONValue {
  for (let at: Scope | undefined = scope; at; at = at.inner) {
    if (Object.hasOwn(at.data, name)) return at.data[name] ?? null;
  }
  throw new MappingProblem(`names an undefined variable: $${name.slice(0, 50)}`);
}
