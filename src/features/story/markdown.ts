import { millis } from "../../kernel/domain/time.ts";
import type { Moment } from "../../kernel/log/moments.ts";
import type { AttemptOutcome } from "../events/facts.ts";
import type { EventView } from "../events/webhooks.ts";
import { facts } from "../facts.ts";
import type { Naming } from "../names.ts";
import type { Cause, CauseCode, Chapter, Story, StoryEntry } from "./story.ts";

/** A story and what its text has besides. */
export interface StoryText extends Story {
  readonly asOf: Moment;
  readonly event: EventView;
  readonly named: Naming;
  /** The URL of the newest attempt; undefined before the first. */
  readonly url: string | undefined;
  /** The body of the answer to the last failed attempt; empty if there is none. */
  readonly answer: string;
}

/** So many characters of a receiver's answer are quoted. */
const quoted = 120;

/** The statuses in the words of the dashboard. */
const statuses: Readonly<Record<EventView["status"], string>> = {
  Pending: "Queued", Processing: "Sending", WaitingRetry: "Retrying", Succeeded: "Delivered", Failed: "Failed attempt",
  CriticalFailure: "Failed", Cancelled: "Cancelled",
};

/** The story of an event as Markdown. Foreign text is in code spans, in which Markdown has no meaning. */
export function storyMarkdown(story: StoryText): string {
  const { asOf, event, waiting, chapters, url, answer } = story;
  const words = oneLine(answer);
  const said = words === "" ? [] : ["", "The receiver's answer to the last failed attempt:", "", `> ${code(words)}`];
  const now = waiting ? ["", `It waits: ${waiting.because.map((one) => causeText(one)).join("; ")}${
    waiting.until === null ? "" : `, until ${waiting.until}`}.`] : [];
  const tags = Object.entries(event.tags ?? {}).map(([name, value]) => code(`${name}:${value}`));
  const fields = {
    "As of": `${asOf.time}, entry ${asOf.position}`,
    Accepted: event.acceptedAt,
    Delivered: event.deliveredAt,
    Destination: url === undefined ? event.destinationUrlId : `${code(url)}, ${event.destinationUrlId}`,
    "Event type": event.eventType === null ? null : code(event.eventType),
    Owner: event.ownerId === null ? null : code(event.ownerId),
    Tags: tags.length === 0 ? null : tags.join(", "),
    "Idempotency key": event.idempotencyKey === null ? null : code(event.idempotencyKey),
    "Copy of event": event.sourceEventId,
  };
  return [
    `# Event ${event.id}: ${statuses[event.status]}`, ...now, ...said, "",
    ...Object.entries(fields).flatMap(([name, value]) => (value === null ? [] : [`- ${name}: ${value}`])),
    "", "## What happened", "",
    ...chapters.map((chapter) => `- ${chapter.from} ${chapterText(chapter, story)}`), "",
  ].join("\n");
}

const titles: Readonly<Record<Chapter["kind"], string>> = {
  accepted: "Accepted", attempt: "Attempt", wait: "Waited", replayed: "Replayed", exhausted: "Failed",
  cancelled: "Cancelled", setting: "Setting changed",
};

function chapterText(chapter: Chapter, { named }: StoryText): string {
  const { kind, from, to, entries: [entry], attempt, because } = chapter;
  const author = (position: string) => {
    const written = chapter.entries.find((one) => one.position === position);
    return written && actorText(written.actor, named);
  };
  const causes = because.map((one) => causeText(one, author)).join("; ");
  const titled = (title: string, ...texts: readonly string[]) =>
    [`**${title}**`, ...texts.filter((text) => text !== "")].join(", ");
  switch (kind) {
    case "accepted":
      return titled(titles.accepted, entry ? `by ${actorText(entry.actor, named)}` : "", causes);
    case "attempt":
      return attempt ? titled(`Attempt ${attempt.number}`, outcomeText(attempt), causes) : titled("Attempt", causes);
    case "wait":
      return titled(to === null ? "Waits" : `Waited ${durationText(millis(to) - millis(from))}`, causes);
    case "replayed":
      return titled(because.some(({ values }) => values["mode"] === "resend") ? "Resent" : "Replayed", causes);
    case "setting":
      return titled(titles.setting, settingText(chapter.entries), causes);
    default:
      return titled(titles[kind], causes);
  }
}

function settingText(entries: readonly StoryEntry[]): string {
  return entries.map(({ type }) => facts.get(type)?.setting ?? type).join(", ");
}

function outcomeText({ outcome, statusCode, durationMs, error }: AttemptOutcome): string {
  if (outcome === "in progress") return "in flight";
  if (outcome === "unknown") return "outcome unknown: the receiver may have seen it";
  const took = durationMs === null ? "" : ` in ${durationText(durationMs)}`;
  if (statusCode !== null) return `answered ${statusCode}${took}`;
  return `failed${took}${error === null ? "" : `: ${code(error)}`}`;
}

type Values = Cause["values"];

/** Each cause in words; the author of its entry is known within its chapter only. */
const causes: Readonly<Record<CauseCode, (values: Values, author?: string) => string>> = {
  "first-attempt": () => "the first attempt after acceptance",
  "retry-schedule": ({ retryCount, nextAttemptAt }) =>
    `by the retry schedule${given(retryCount, (count) => `, after ${counted(count, "failed attempt")}`)}${
      given(nextAttemptAt, (at) => `, due ${at}`)}`,
  "receiver-retry-after": ({ retryAfterMs, nextAttemptAt }) =>
    `the receiver asked for a wait${given(retryAfterMs, (ms) => ` of ${durationText(Number(ms))}`)}${
      given(nextAttemptAt, (at) => `, due ${at}`)}`,
  "circuit-open": ({ failures, openUntil }) => (openUntil === null
    ? "held while another event was the probe of the circuit"
    : `held by the open circuit${given(failures, (count) => `, after ${counted(count, "failure")} in a row`)}`),
  probe: () => "the probe of the circuit",
  "destination-inactive": () => "held because the destination was switched off",
  "concurrency-limit": ({ serverRateLimit }) =>
    `held by the destination's limit of ${given(serverRateLimit, (limit) => `${limit} `)}concurrent requests`,
  "rate-limit": () => "held by the destination's rate limit",
  ordering: () => "held behind an earlier event of the same order",
  "receiver-pause": ({ pausedUntil }) =>
    `held because the receiver asked for a pause by a 429${given(pausedUntil, (until) => ` until ${until}`)}`,
  proxy: ({ error }) => `held because the outbound proxy failed${given(error, (text) => `: ${code(String(text))}`)}`,
  requested: (_, author) => `requested${given(author, (by) => ` by ${by}`)}`,
  expired: () => "it waited as long as its destination allows",
  "destination-deleted": () => "its destination was deleted",
  "max-attempts": ({ retryCount }) =>
    `${given(retryCount, (count) => counted(count, "attempt"))} failed, the most for this event`.trim(),
  gone: () => "the receiver answered 410 Gone",
  "not-retried": () => "the destination's retry policy does not list the outcome",
  "not-mapped": ({ error }) => `the subscription's mapping made nothing of the message${given(error, (text) =>
    `: ${code(String(text))}`)}`,
  routed: ({ messageId, subscriptionId }) => `routed by a subscription${given(subscriptionId, (id) => `, ${id}`)}${
    given(messageId, (id) => `, as a delivery of message ${id}`)}`,
  "lease-lost": ({ attempt }) => `the worker was lost${given(attempt, (number) => ` in attempt ${number}`)}`,
  "not-recorded": () => "the log names no cause",
};

function causeText({ code: cause, entry, values }: Cause, author?: (position: string) => string | undefined): string {
  return causes[cause](values, entry ? author?.(entry.position) : undefined);
}

function given(value: string | number | null | undefined, text: (value: string | number) => string): string {
  return value === null || value === undefined ? "" : text(value);
}

function counted(count: string | number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

const kinds = {
  user: "user", serviceAccount: "service account", portalLink: "portal link", apiKey: "API key",
} as const;

function actorText(actor: StoryEntry["actor"], named: Naming): string {
  if (actor.type === "anonymous") return "an anonymous caller";
  if (actor.type === "service") return actor.part === "operator" ? "the operator" : "the relay";
  const { name } = named(actor);
  return `${kinds[actor.type]} ${name ? code(name) : actor.id}`;
}

function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Math.round(ms / 10) / 100} s`;
  const seconds = Math.round(ms / 1_000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${seconds % 60} s`;
}

/** A text in one line, cut; empty for a binary one. */
function oneLine(text: string): string {
  if (/[\0\uFFFD]/.test(text)) return "";
  const letters = [...text.replace(/\s+/g, " ").trim()];
  return letters.length <= quoted ? letters.join("") : `${letters.slice(0, quoted).join("")}…`;
}

/** A code span around any text, in one line; characters that cannot be seen or turn its direction as their numbers. */
function code(text: string): string {
  const shown = text.replace(/\s+/g, " ").replace(/[\p{Cc}\p{Cf}]/gu, (character) =>
    `⟨${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`);
  const fence = "`".repeat(Math.max(0, ...(shown.match(/`+/g) ?? []).map(({ length }) => length)) + 1);
  const pad = /^`|`$/.test(shown) ? " " : "";
  return `${fence}${pad}${shown}${pad}${fence}`;
}
