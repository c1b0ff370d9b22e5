import { Ajv2020, type ErrorObject, type SchemaObject, type ValidateFunction } from "ajv/dist/2020.js";
import type { DataValidationCxt } from "ajv/dist/types/index.js";
import { refuse } from "../domain/refusal.ts";
import { uuidForm } from "../domain/uuid.ts";

/** Checks a value against its schema. Throws a Refusal (invalid) that names the field at fault and quotes no value. */
export interface Validator<Shape> {
  (value: unknown): Shape;
  readonly schema: SchemaObject;
}

interface Field {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly description?: string;
}

// A test checks the schemas themselves.
const ajv = new Ajv2020({ useDefaults: true, verbose: true, validateSchema: false });
ajv.addFormat("uuid", (text: string) => uuidForm.test(text.toLowerCase()));
// The application's own rules check these more strictly, and with better words.
for (const name of ["email", "uri", "date-time", "password"]) ajv.addFormat(name, true);

ajv.addKeyword({ keyword: "x-commas", schemaType: "boolean" });
ajv.addKeyword({ keyword: "x-go-type-name", schemaType: "string" });

/** Takes a text in any case: it is in lower case by the time that its enumeration is checked. */
ajv.addKeyword({
  keyword: "x-anyCase",
  schemaType: "boolean",
  before: "enum",
  modifying: true,
  errors: false,
  validate: (_anyCase: boolean, value: unknown, _schema?: object, place?: DataValidationCxt) => {
    if (place && typeof value === "string") {
      Object.assign(place.parentData as object, { [place.parentDataProperty]: value.toLowerCase() });
    }
    return true;
  },
});

/** Patterns with words of their own; all others are against control characters. */
const patternWords: Readonly<Record<string, string>> = {
  [String.raw`^[\u0021-\u007e]+$`]: "visible ASCII characters without spaces",
  "^(/([^/~]|~[01])*)+$": "a JSON Pointer such as /customer/id",
};

const compiled = new WeakMap<SchemaObject, ValidateFunction>();

/** The validator of a request schema, compiled at the first value. It fills defaults in. */
export function validator<Shape>(schema: SchemaObject): Validator<Shape> {
  const validate = (value: unknown) => {
    const check = (compiled.get(schema) ?? ajv.compile<Shape>(schema)) as ValidateFunction<Shape>;
    compiled.set(schema, check);
    if (check(value)) return value;
    return refuse("invalid", problemOf(telling(check.errors ?? [])));
  };
  return Object.assign(validate, { schema });
}

function telling(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const choice = errors.at(-1);
  if (choice?.keyword !== "oneOf") return errors[0];
  const { instancePath, schemaPath } = choice;
  const alternative = (error: ErrorObject) => error.schemaPath.slice(schemaPath.length).split("/")[1];
  const mistyped = errors.filter((error) => error.keyword === "type" && error.instancePath === instancePath);
  const others = new Set(mistyped.map(alternative));
  const [inner] = errors.filter((error) => error !== choice && !others.has(alternative(error)));
  const type = mistyped.map(({ params }) => params["type"] as string);
  return inner ?? { ...choice, keyword: "type", params: { type } };
}

function problemOf(error: ErrorObject | undefined): string {
  const path = (error?.instancePath ?? "").replace(/^(\/[A-Z]\w*)\/\d+$/, "$1").slice(1).replaceAll("/", ".");
  const params = error?.params ?? {};
  const { type, enum: codes, description, properties = {} } = (error?.parentSchema ?? {}) as Field;
  // The numbers alone would not say which of them is the Owner.
  if (type === "integer" && codes) return `${path}: must be an integer: ${description?.replace(/\.$/, "")}`;
  switch (error?.keyword) {
    case "required":
      return `${[path, params["missingProperty"]].filter(Boolean).join(".")}: is required`;
    case "additionalProperties": {
      const name = [path, shownName(String(params["additionalProperty"]))].filter(Boolean).join(".");
      return `${name}: is not one of its fields, which are ${Object.keys(properties).join(", ")}`;
    }
    case "dependentRequired":
      return `${params["missingProperty"]}: is required with ${params["property"]}`;
    case "type":
      return `${path}: must be ${[params["type"]].flat().map((type) => article(String(type))).join(" or ")}`;
    case "enum":
      return `${path}: must be one of ${(params["allowedValues"] as unknown[]).map(String).join(", ")}`;
    case "minimum":
      return `${path}: must be at least ${params["limit"]}`;
    case "maximum":
      return `${path}: must be at most ${params["limit"]}`;
    case "maxLength":
      return `${path}: must be at most ${params["limit"]} characters long`;
    case "maxItems":
      return `${path}: must have at most ${params["limit"]} items`;
    case "maxProperties":
      return `${path}: must have at most ${params["limit"]} fields`;
    case "minItems":
    case "minLength":
      return `${path}: must not be empty`;
    case "uniqueItems":
      return `${path}: must not name anything twice`;
    case "pattern": {
      const words = patternWords[String(params["pattern"])];
      return `${path}: must ${words === undefined ? "not contain control characters" : `be ${words}`}`;
    }
    case "format":
      return `${path}: must be a UUID`;
    default:
      return `${path || "body"}: is not valid`;
  }
}

/** A name that a caller made up, as an error text may show it: at most 64 characters, and visible. */
export function shownName(name: string): string {
  return /^[\x21-\x7e]{1,64}$/.test(name) ? name : JSON.stringify(name.slice(0, 64));
}

function article(type: string): string {
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}
