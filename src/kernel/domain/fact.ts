import type { DomainEvent } from "./domain-event.ts";
import { time, type Fields, type ObjectOf } from "./schema.ts";

/** The kinds of subjects that facts of the audit are about, each with the field of a fact's data that has its id. */
export const subjectIds = {
  tenant: "tenantId", user: "userId", purge: "purgeId", replay: "replayId", cancellation: "cancellationId",
  apiKey: "keyId", serviceAccount: "serviceAccountId", invite: "inviteId", destination: "destinationId",
  circuit: "destinationId", sender: "senderId", subscription: "subscriptionId", view: "viewId",
  notificationSubscription: "subscriptionId", portalLink: "portalLinkId",
} as const;
/** A kind of subject that facts of the audit are about. */
export type SubjectType = keyof typeof subjectIds;

/** Turns the data of one version into that of the next; may rely on the schema of its version. */
export type Upcaster = (data: Readonly<Record<string, unknown>>) => object;

interface Declared<F extends Fields> {
  /** The fields of its data, in the order in which the API's description has them. */
  readonly data: F;
  /** From each version to the next, the first from version 1. The version that is written is one more than these. */
  readonly upcasters?: readonly Upcaster[];
  readonly meaning: string;
}

interface Shown<F extends Fields> extends Declared<F> {
  /** The fields that histories, the audit and the stream show. Secrets, addresses, keys and hashes are hidden. */
  readonly shown: "all" | readonly (keyof F & string)[];
  /** The words after the actor's name, with `{field:format}` (fact-words.ts); of several, the first with all values. */
  readonly words: string | readonly [string, ...string[]];
  readonly audit: SubjectWithin<F> | false;
  /** The setting that it changed, for the story of an event; of facts that bear on deliveries. */
  readonly setting?: string;
  /** Whether its subject begins with it: its shown fields are the subject's first settings. */
  readonly creates?: true;
  /** The settings that it changes: fields of its data that its subject's state has, too (settings.ts). */
  readonly changes?: readonly (keyof F & string)[];
  /** Settings of its subject from then on that its data does not have. */
  readonly sets?: Readonly<Record<string, string | null>>;
  /** The secret that it replaces. */
  readonly replaces?: string;
  readonly example?: Partial<ObjectOf<F>>;
}

type SubjectWithin<F> = {
  [Type in SubjectType]: (typeof subjectIds)[Type] extends keyof F ? Type : never;
}[SubjectType];

/** The declaration of any fact. Its name is its key among the declarations of its aggregate. */
export type FactDeclaration = Declared<Fields> & Partial<Shown<Fields>>;

/** Declares a fact that a history shows. */
export function fact<const F extends Fields>(declaration: Shown<F>): Shown<F> {
  return declaration;
}

/** Declares a fact that no history shows. */
export function internalFact<const F extends Fields>(declaration: Declared<F>): Declared<F> {
  return declaration;
}

/** The facts of declarations, as a union by type. */
export type EventsOf<Facts extends Readonly<Record<string, Declared<Fields>>>> = {
  [Type in keyof Facts & string]: DomainEvent<Type, ObjectOf<Facts[Type]["data"]>>;
}[keyof Facts & string];

/** The field of every fact that has its time. */
export const at = time("When it was decided.");
