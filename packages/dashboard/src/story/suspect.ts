import type { Schemas } from "@webhook-relay/client";
import { between, durationText, hourMs } from "../parts/times.ts";
import type { Attempt } from "./attempts.ts";

type Fact = Schemas["HistoryItem"];

/** Changes of a destination that failures may follow, in words behind their author. */
const changes: Readonly<Record<string, string>> = {
  DestinationUrlChanged: "changed the URL",
  DestinationRateLimitChanged: "changed the limit of concurrent requests",
  DestinationPaceChanged: "changed the rate of attempts",
  DestinationPolicyChanged: "changed how it is tried",
  DestinationOrderingChanged: "changed the order of deliveries",
  DestinationActivated: "switched the destination on",
  DestinationDeactivated: "switched the destination off",
  DestinationAuthConfigured: "changed the authentication",
  DestinationHeadersConfigured: "changed the headers",
  DestinationAuthRemoved: "removed the authentication",
  DestinationCertificateConfigured: "changed the client certificate",
  DestinationCertificateRemoved: "removed the client certificate",
  DestinationSecretReplaced: "changed the signing secret",
  DestinationSecretsExpired: "ended older signing secrets",
  DestinationSecretRemoved: "removed the signing secret",
  DestinationSigningKeyReplaced: "changed the signing key",
  DestinationSigningKeyRemoved: "removed the signing key",
};

/** A change this long before a failure is named beside it, ms. */
export const suspectMs = 24 * hourMs;

/** A change of a destination before the failures began. It came before; nothing says that it is their cause. */
export interface Suspect {
  readonly fact: Fact;
  /** The change in words, behind its author. */
  readonly did: string;
  /** How long before the first failure it was. */
  readonly before: string;
}

/** The first failed attempt of an event. */
export function firstFailure(attempts: readonly Attempt[]): Attempt | undefined {
  return attempts.find(({ outcome }) => outcome === "failed" || outcome === "unknown");
}

/** The newest change in a destination's history, newest first, before a moment; undefined without one in 24 hours. */
export function suspectIn(history: readonly Fact[], began: string): Suspect | undefined {
  for (const fact of history) {
    const did = changes[fact.type];
    const ms = between(fact.time, began);
    if (did !== undefined && ms >= 0 && ms <= suspectMs) return { fact, did, before: durationText(ms) };
  }
  return undefined;
}
