import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import metadataSchema from "../../../schemas/events/metadata.json" with { type: "json" };
import { facts, schemaOf, versionOf } from "../../features/facts.ts";
import type { DomainEvent, Metadata } from "../../kernel/domain/domain-event.ts";
import type { FactDeclaration, Upcaster } from "../../kernel/domain/fact.ts";
import { uuidForm } from "../../kernel/domain/uuid.ts";
import type { EncodedEvent, EventCodec, Unreadable } from "../../kernel/ports/event-codec.ts";
import { UnacceptableEntry } from "../../kernel/ports/event-store.ts";

/** Ids in lower case; times in UTC with milliseconds, since projections fail on times that `Date.parse` refuses. */
const formats = {
  uuid: uuidForm,
  "date-time": /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/,
};

type StoredMetadata = Metadata & { readonly schemaVersion: number };

/** One type of fact. Its validators are compiled when first needed: compiling all would slow the start. */
interface Kind {
  readonly type: string;
  readonly version: number;
  readonly schema: object;
  readonly upcasters: readonly Upcaster[];
  /** Refuses unknown fields. */
  strict: ValidateFunction<object> | undefined;
  /** Removes unknown fields: a newer release may have added them. */
  lenient: ValidateFunction<object> | undefined;
}

/** Tests check the schemas: JSON Schema's own schema would add 40 ms to each thread's start. */
const options = { allowUnionTypes: true, discriminator: true, formats, validateSchema: false };

/** Facts as JSON, validated both ways. Reading drops fields of newer releases, so that states can be written again. */
export class JsonEventCodec implements EventCodec {
  readonly #strict = new Ajv2020(options);
  readonly #lenient = new Ajv2020({ ...options, removeAdditional: true });
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #isMetadata: ValidateFunction<StoredMetadata>;

  constructor(declared: ReadonlyMap<string, FactDeclaration> = facts) {
    this.#kinds = new Map([...declared].map(([type, fact]) => [
      type,
      {
        type, version: versionOf(fact), schema: schemaOf(type, fact), upcasters: fact.upcasters ?? [],
        strict: undefined, lenient: undefined,
      },
    ]));
    this.#isMetadata = this.#strict.compile<StoredMetadata>(metadataSchema);
  }

  encode({ type, data }: DomainEvent, metadata: Metadata): EncodedEvent {
    const kind = this.#kinds.get(type);
    if (!kind) throw new UnacceptableEntry(`${type} is not a known type of event`);
    const isData = this.#strictOf(kind);
    if (!isData(data)) throw new UnacceptableEntry(`${type}: data violates ${violated(isData)}`);
    const stored: StoredMetadata = { ...metadata, schemaVersion: kind.version };
    if (!this.#isMetadata(stored)) {
      throw new UnacceptableEntry(`${type}: metadata violates ${violated(this.#isMetadata)}`);
    }
    return { type, data: JSON.stringify(data), metadata: JSON.stringify(stored) };
  }

  decode({ type, data: text, metadata: metadataText }: EncodedEvent): ReturnType<EventCodec["decode"]> {
    const kind = this.#kinds.get(type);
    try {
      const stored: unknown = JSON.parse(metadataText);
      if (!this.#isMetadata(stored)) return damaged(`metadata violates ${violated(this.#isMetadata)}`);
      const { schemaVersion, ...metadata } = stored;
      const written: unknown = JSON.parse(text);
      if (!kind) return { unreadable: "unknown type", newer: true };
      if (schemaVersion > kind.version) return { unreadable: `unknown version ${schemaVersion}`, newer: true };
      const data = upcast(kind, schemaVersion, written);
      const isData = this.#strictOf(kind)(data) ? undefined : this.#lenientOf(kind);
      if (isData && !isData(data)) return damaged(`data violates ${violated(isData)}`);
      return { event: { type: kind.type, data: data as object }, metadata };
    } catch (error) {
      // The parser's own message quotes the data.
      return damaged(error instanceof SyntaxError ? "not JSON" : "could not be brought up to date");
    }
  }

  timeOf(text: string): string | null {
    try {
      const stored: unknown = JSON.parse(text);
      return this.#isMetadata(stored) ? stored.at : null;
    } catch {
      return null;
    }
  }

  #strictOf(kind: Kind): ValidateFunction<object> {
    kind.strict ??= this.#strict.compile<object>(kind.schema);
    return kind.strict;
  }

  #lenientOf(kind: Kind): ValidateFunction<object> {
    kind.lenient ??= this.#lenient.compile<object>(kind.schema);
    return kind.lenient;
  }
}

function damaged(unreadable: string): Unreadable {
  return { unreadable, newer: false };
}

function upcast({ upcasters }: Kind, version: number, data: unknown): unknown {
  return upcasters.slice(version - 1)
    .reduce((current, upcaster) => upcaster(current as Readonly<Record<string, unknown>>), data);
}

/** The violated rule as a path in the schema, without the value. */
function violated(check: ValidateFunction): string {
  return check.errors?.[0]?.schemaPath ?? "its schema";
}
