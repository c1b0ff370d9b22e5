import type { Schemas } from "@webhook-relay/client";
import { durationText } from "../parts/times.ts";
import { counted, linked, shortId, type Words } from "./words.ts";

/** A cause that the relay gives. */
export type Cause = Schemas["StoryCause"];

/** The context of the words of a cause. */
export interface CauseContext {
  /** Whether the event is a test event. */
  readonly test?: boolean;
  /** The sender of the event. */
  readonly senderId?: string | null;
  /** The authors of entries by their positions. */
  readonly authors?: ReadonlyMap<string, Schemas["Actor"]>;
  /** Names of authors by their ids. */
  readonly names?: ReadonlyMap<string, string>;
}

const unknown: Words = ["the log names no cause"];

const words: Readonly<Record<Schemas["CauseCode"], (cause: Cause, context: CauseContext) => Words>> = {
  "first-attempt": ({ entry }) => ["the first attempt after ", linked("acceptance", entry)],
  "retry-schedule": ({ entry, values: { retryCount } }) =>
    [linked("planned", entry), ` by the retry schedule${retryCount === undefined ? "" : `, after ${
      counted(retryCount, "failed attempt")}`}`],
  "receiver-retry-after": ({ entry, values: { retryAfterMs } }) =>
    [linked("the receiver asked", entry), ` for a wait${retryAfterMs === undefined ? "" : ` of ${
      durationText(retryAfterMs)}`}`],
  "circuit-open": circuitWords,
  probe: ({ entry }) => [linked("the probe", entry), " of the circuit"],
  "destination-inactive": ({ entry }) => ["held because the destination was ", linked("switched off", entry)],
  "concurrency-limit": ({ entry, values: { serverRateLimit } }) =>
    ["held by the destination's ", linked("limit", entry), serverRateLimit === undefined
      ? " of concurrent requests" : ` of ${counted(serverRateLimit, "concurrent request")}`],
  "rate-limit": ({ entry }) => ["held by the destination's ", linked("rate limit", entry)],
  ordering: ({ entry }) => ["held behind ", linked("an earlier event", entry), " of the same order"],
  "receiver-pause": ({ entry, values: { pausedUntil, eventId } }) => [
    "held because ", linked("the receiver asked", entry), " for a pause by a 429",
    ...pausedUntil === undefined ? [] : [" until ", { time: pausedUntil }],
    ...typeof eventId === "string" ? [", to event ", { text: shortId(eventId), eventId }] : [],
  ],
  proxy: ({ entry, values: { error } }) =>
    ["held because ", linked("the outbound proxy failed", entry), ...error === undefined ? [] : [`: ${error}`]],
  requested: ({ entry }, { authors, names }) => {
    const author = entry && authors?.get(entry.position);
    return [linked("requested", entry), ...author ? [` by ${actorText(author, names)}`] : []];
  },
  expired: ({ entry }) => ["it ", linked("waited as long", entry), " as its destination allows"],
  "destination-deleted": ({ entry }) => ["its destination was ", linked("deleted", entry)],
  "max-attempts": ({ entry, values: { retryCount } }, { test = false }) => {
    const failed = linked(retryCount === undefined ? "the attempts failed" : `${
      counted(retryCount, "attempt")} failed`, entry);
    return [failed, test ? ", and a test event is not retried" : ", the maximum"];
  },
  gone: ({ entry }) => [linked("the receiver answered 410 Gone", entry)],
  "not-retried": ({ entry }) => ["the destination's ", linked("retry policy", entry), " does not list the outcome"],
  "not-mapped": ({ entry, values: { error } }) =>
    [linked("the subscription's mapping made nothing of the message", entry), error === undefined ? "" : `: ${error}`],
  routed: ({ entry, values: { messageId, subscriptionId } }, { senderId }) => {
    const subscription = subscriptionId === undefined ? "a subscription" : `subscription ${shortId(subscriptionId)}`;
    return [
      linked("routed", entry), " by ", senderId == null ? subscription : { text: subscription, senderId },
      ...messageId === undefined ? [] : [", as a delivery of message ", { text: shortId(messageId), messageId }],
    ];
  },
  "lease-lost": ({ entry, values: { attempt } }) =>
    [linked("the worker was lost", entry), attempt === undefined ? "" : ` in attempt ${attempt}`],
  "not-recorded": () => unknown,
};

/** A cause in words; a link to the entry that states it is among them. */
export function causeWords(cause: Cause, context: CauseContext = {}): Words {
  // A later relay may know more causes than this page.
  const known = words[cause.code] as (typeof words)[Schemas["CauseCode"]] | undefined;
  return known ? known(cause, context) : [linked(`“${cause.code}”, which this page does not know`, cause.entry)];
}

function circuitWords({ entry, values: { failures, openUntil } }: Cause): Words {
  if (openUntil === null) return ["held while another event was ", linked("the probe", entry), " of the circuit"];
  const after = failures === undefined ? "" : `, after ${counted(failures, "failure")} in a row`;
  return ["held by the ", linked("open circuit", entry), after];
}

/** An author of an entry in words: by name where it is known, otherwise by id. */
export function actorText(
  { type, id, role, part }: Schemas["Actor"], names: ReadonlyMap<string, string> = new Map(),
): string {
  const name = id === undefined ? undefined : names.get(id);
  const who = name !== undefined ? ` “${name}”` : id === undefined ? "" : ` ${shortId(id)}`;
  const texts: Readonly<Record<typeof type, string>> = {
    user: `user${who}${role === undefined ? "" : ` (${role})`}`,
    serviceAccount: `service account${who}`,
    portalLink: `portal link${who}`,
    apiKey: `API key${who}`,
    anonymous: "an anonymous caller",
    service: part === "operator" ? "the operator" : "the relay",
  };
  return texts[type];
}
