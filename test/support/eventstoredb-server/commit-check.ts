import type { Expected, Stored } from "./events.ts";
import { noEvent, type Stream } from "./stream.ts";

/** The server's decision on an append. */
export type Check =
  | { readonly kind: "write"; readonly current: bigint; readonly undeletes: boolean }
  | { readonly kind: "repeated"; readonly last: Stored }
  | { readonly kind: "conflict"; readonly current: bigint }
  | { readonly kind: "deleted" };

/**
 * The server's rules. A soft-deleted stream keeps its last revision, so an append that expects exactly that one
 * succeeds and brings the stream back; so does an append that expects none.
 */
export function check(stream: Stream | undefined, expected: Expected, ids: readonly string[]): Check {
  if (stream?.tombstone) return { kind: "deleted" };
  const current = stream?.last?.revision ?? noEvent;
  const conflict: Check = { kind: "conflict", current };
  const write: Check = { kind: "write", current, undeletes: stream?.softDeleted ?? false };
  if (expected === "stream_exists" && stream?.softDeleted) return { kind: "deleted" };
  if (expected === "stream_exists" && !stream) return conflict;
  if (expected === "any" || expected === "stream_exists") {
    const known = ids.map((id) => stream?.revisionOf(id));
    if (known[0] === undefined) return write;
    return known.includes(undefined) ? conflict : { kind: "repeated", last: stream!.event(known.at(-1)!)! };
  }
  const revision = expected === "no_stream" ? noEvent : expected;
  if (revision === current) return write;
  if (revision > current || ids.length === 0) return conflict;
  const matching = ids.map((id, at) => stream!.event(revision + 1n + BigInt(at))?.id === id);
  if (!matching.includes(false)) return { kind: "repeated", last: stream!.event(revision + BigInt(ids.length))! };
  return !matching[0] && revision === noEvent && stream!.softDeleted ? write : conflict;
}
