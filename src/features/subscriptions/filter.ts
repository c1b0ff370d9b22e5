/** A condition on messages, as JSON. */
export type Filter = Readonly<Record<string, unknown>>;

/** A message as filters see it; a field without a value is missing. */
export interface FilteredMessage {
  readonly type?: string;
  readonly ownerId?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly data: unknown;
}

interface Operator {
  readonly takes: "scalar" | "scalars" | "ordered" | "text" | "truth" | "conditions" | "condition";
  /** Whether a value satisfies it; a missing one is undefined. */
  readonly holds: (value: unknown, operand: never) => boolean;
}

const operators: Readonly<Record<string, Operator>> = {
  $eq: { takes: "scalar", holds: (value, operand: Scalar) => value === operand },
  $neq: { takes: "scalar", holds: (value, operand: Scalar) => value !== operand },
  $gt: { takes: "ordered", holds: (value, operand: Ordered) => isAlike(value, operand) && value > operand },
  $gte: { takes: "ordered", holds: (value, operand: Ordered) => isAlike(value, operand) && value >= operand },
  $lt: { takes: "ordered", holds: (value, operand: Ordered) => isAlike(value, operand) && value < operand },
  $lte: { takes: "ordered", holds: (value, operand: Ordered) => isAlike(value, operand) && value <= operand },
  $in: { takes: "scalars", holds: (value, operand: readonly unknown[]) => operand.includes(value) },
  $nin: { takes: "scalars", holds: (value, operand: readonly unknown[]) => !operand.includes(value) },
  $startsWith: { takes: "text", holds: (value, operand: string) => isText(value) && value.startsWith(operand) },
  $endsWith: { takes: "text", holds: (value, operand: string) => isText(value) && value.endsWith(operand) },
  $exist: { takes: "truth", holds: (value, operand: boolean) => (value !== undefined) === operand },
  $and: { takes: "conditions", holds: (value, operand: readonly unknown[]) => operand.every(heldBy(value)) },
  $or: { takes: "conditions", holds: (value, operand: readonly unknown[]) => operand.some(heldBy(value)) },
  $not: { takes: "condition", holds: (value, operand: unknown) => !holds(operand, value) },
};

type Scalar = string | number | boolean | null;
type Ordered = string | number;

const roots = ["type", "ownerId", "tags", "data"];

/** Conditions of a filter at most: operators with an operand, and literals. */
export const mostConditions = 50;
/** Objects within each other at most. */
export const mostDepth = 8;
/** Values of one `$in` or `$nin` at most. */
export const mostValues = 100;
/** Characters of a filter as JSON at most. */
export const mostCharacters = 4_096;

/** The first problem of a filter, after the name of its field; null for a valid one. */
export function problemOfFilter(filter: Filter): string | null {
  if (JSON.stringify(filter).length > mostCharacters) return `filter: must be at most ${mostCharacters} characters`;
  return problemOf(filter, { path: "filter", depth: 1, isRoot: true, budget: { left: mostConditions } });
}

interface Place {
  readonly path: string;
  readonly depth: number;
  /** Whether names there are those of a message. */
  readonly isRoot: boolean;
  readonly budget: { left: number };
}

function problemOf(condition: unknown, place: Place): string | null {
  const { path, depth, isRoot, budget } = place;
  if (isScalar(condition) && !isRoot) return spent(place);
  if (!isObject(condition)) {
    return `${path}: must be ${isRoot ? "" : "a string, a number, a boolean, null or "}an object of conditions`;
  }
  if (depth > mostDepth) return `${path}: must be at most ${mostDepth} objects deep`;
  const entries = Object.entries(condition);
  if (entries.length === 0) return `${path}: must have a condition`;
  return firstProblem(entries, ([name, operand]) => {
    const within = { path: `${path}.${name}`, depth: depth + 1, budget };
    if (name.startsWith("$")) return problemOfOperand(name, operand, { ...within, isRoot });
    if (isRoot && !roots.includes(name)) return `${within.path}: must be type, ownerId, tags or data`;
    return problemOf(operand, { ...within, isRoot: false });
  });
}

function problemOfOperand(name: string, operand: unknown, place: Place): string | null {
  const { path } = place;
  const { takes } = (Object.hasOwn(operators, name) ? operators[name] : undefined) ?? {};
  switch (takes) {
    case undefined:
      return `${path}: must be one of ${Object.keys(operators).join(", ")}`;
    case "condition":
      return problemOf(operand, place);
    case "conditions":
      if (!Array.isArray(operand) || operand.length === 0) return `${path}: must be a list of conditions`;
      return firstProblem(operand.entries(), ([at, one]) => problemOf(one, { ...place, path: `${path}.${at}` }));
    case "scalars":
      if (!Array.isArray(operand) || operand.length > mostValues || !operand.every(isScalar)) {
        return `${path}: must be a list of up to ${mostValues} strings, numbers, booleans and nulls`;
      }
      break;
    case "scalar":
      if (!isScalar(operand)) return `${path}: must be a string, a number, a boolean or null`;
      break;
    case "ordered":
      if (!isText(operand) && typeof operand !== "number") return `${path}: must be a string or a number`;
      break;
    case "text":
      if (!isText(operand)) return `${path}: must be a string`;
      break;
    case "truth":
      if (typeof operand !== "boolean") return `${path}: must be true or false`;
  }
  return place.isRoot ? `${path}: must be within type, ownerId, tags or data` : spent(place);
}

function spent({ budget }: Place): string | null {
  budget.left -= 1;
  return budget.left < 0 ? `filter: must have at most ${mostConditions} conditions` : null;
}

function firstProblem<Item>(items: Iterable<Item>, problem: (item: Item) => string | null): string | null {
  for (const item of items) {
    const found = problem(item);
    if (found !== null) return found;
  }
  return null;
}

/** Whether a message passes a filter without a {@link problemOfFilter}. */
export function passes(filter: Filter, message: FilteredMessage): boolean {
  return holds(filter, message);
}

function holds(condition: unknown, value: unknown): boolean {
  if (!isObject(condition)) return value === condition;
  return Object.keys(condition).every((name) => {
    const operand = condition[name];
    if (name.startsWith("$")) return operators[name]!.holds(value, operand as never);
    return holds(operand, isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined);
  });
}

function heldBy(value: unknown): (condition: unknown) => boolean {
  return (condition) => holds(condition, value);
}

function isAlike<Kind extends Ordered>(value: unknown, operand: Kind): value is Kind {
  return typeof value === typeof operand;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isScalar(value: unknown): value is Scalar {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
