import type { Schemas } from "@webhook-relay/client";
import { between, durationText } from "../../parts/times.ts";

/** An incident, as the relay answers it. */
export type Incident = Schemas["Incident"];
type Failure = Incident["failures"][number];

const reasons: Readonly<Record<string, string>> = {
  status: "Answered with an error", timeout: "No answer in time", connection: "No connection",
  tls: "TLS failed", "address refused": "Address refused", token: "No OAuth token", "not sent": "Not sent",
  "outcome unknown": "Outcome unknown",
};

/** The cause of failed attempts in words. */
export function causeText({ reason, statusCode }: Pick<Failure, "reason" | "statusCode">): string {
  return reason === "status" && statusCode !== null ? `Answered ${statusCode}` : reasonText(reason);
}

/** The reason of failed attempts in words. */
export function reasonText(reason: string): string {
  return reasons[reason] ?? reason;
}

/** How long an incident has lasted. */
export function lastedText({ startedAt, endedAt }: Incident, now: number): string {
  return durationText(between(startedAt, endedAt ?? new Date(now).toISOString()));
}

/** How long before an incident something was, from whole seconds. */
export function beforeText(seconds: number): string {
  return `${seconds === 0 ? "less than 1 s" : durationText(seconds * 1_000)} before`;
}

/** A number with the name of the counted things. */
export function countText(count: number, name: string): string {
  return `${count.toLocaleString("en")} ${name}${count === 1 ? "" : "s"}`;
}

/** A URL's host; any other text as it is. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}
