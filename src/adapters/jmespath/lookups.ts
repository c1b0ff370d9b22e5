import { TreeInterpreter } from "@jmespath-community/jmespath";

type Interpreter = Pick<typeof TreeInterpreter, "visit">;
type Value = Parameters<Interpreter["visit"]>[1];

/**
 * Has the library look up fields, for the whole process, as JMESPath has it: it takes what an object inherits
 * (`constructor`) for a field of it.
 */
export function correctLookups(): void {
  const prototype = Object.getPrototypeOf(TreeInterpreter) as Interpreter;
  const { visit } = prototype;
  prototype.visit = function (this: Interpreter, node, value) {
    return node.type === "Field" ? field(value, node.name) : visit.call(this, node, value);
  };
}

function field(value: Value, name: string): Value {
  if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return null;
  return (value as Readonly<Record<string, Value>>)[name] ?? null;
}
