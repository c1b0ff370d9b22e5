import type { Schemas } from "@webhook-relay/client";

/** An entry of the log: its position, its type and its subject. */
export interface Reference {
  readonly position: string;
  readonly type: string;
  readonly subject: Schemas["StorySubject"];
}

/** A text for people: plain pieces, times, quotations, and links to entries of the log and to other pages. */
export type Words = readonly Piece[];

/** A piece of {@link Words}. Times are shown in the zone of the reader; one that `counts` has a countdown. */
export type Piece =
  | string
  | { readonly time: string; readonly counts?: true }
  | { readonly quote: string }
  | { readonly text: string; readonly entry: Reference }
  | { readonly text: string; readonly eventId: string }
  | { readonly text: string; readonly messageId: string }
  | { readonly text: string; readonly senderId: string };

/** The same words as one text, without links; times in ISO 8601. */
export function plainText(words: Words): string {
  return words.map((piece) => {
    if (typeof piece === "string") return piece;
    if ("quote" in piece) return `“${piece.quote}”`;
    return "time" in piece ? piece.time : piece.text;
  }).join("");
}

/** A text that links to an entry, if one is given. */
export function linked(text: string, entry: Reference | null): Piece {
  return entry ? { text, entry } : text;
}

/** Several texts in one, with a text between each two. */
export function joined(parts: readonly Words[], between: string): Words {
  return parts.flatMap((words, index) => (index === 0 ? words : [between, ...words]));
}

/** The same words, the first letter a capital. */
export function capital([first, ...rest]: Words): Words {
  if (first === undefined) return [];
  const raise = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);
  if (typeof first === "string") return [raise(first), ...rest];
  return ["text" in first ? { ...first, text: raise(first.text) } : first, ...rest];
}

/** A number and a noun: `1 failure`, `4 failures`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** The part of an id that people compare. */
export function shortId(id: string): string {
  return id.slice(0, 13);
}
