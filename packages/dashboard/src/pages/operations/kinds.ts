import type { OperationId } from "@webhook-relay/client";

/** A kind of operation on many events. */
export type Kind = "replay" | "cancel" | "purge";

/** The kinds: their names, the fate of their events, and their operations of the API. */
export const kinds: Readonly<Record<Kind, {
  readonly title: string;
  readonly act: string;
  /** The name of a single one. */
  readonly name: string;
  readonly done: string;
  readonly reads: OperationId;
  readonly orders: OperationId;
  /** Takes the place of an empty list. */
  readonly empty: string;
}>> = {
  replay: {
    title: "Replays", act: "Replay", name: "replay", done: "sent again", reads: "listReplays", orders: "orderReplay",
    empty: "No replay yet. A replay sends finished events again, to where they were for or to another destination.",
  },
  cancel: {
    title: "Cancels", act: "Cancel events", name: "cancel", done: "cancelled", reads: "listCancellationHistory",
    orders: "cancelEvents", empty: "No bulk cancel yet. A cancel takes out waiting events for good.",
  },
  purge: {
    title: "Purges", act: "Purge", name: "purge", done: "purged", reads: "listPurgeHistory", orders: "purgeEvents",
    empty: "No purge yet. A purge deletes finished events with their attempts and histories.",
  },
};

/** Whether a text names a kind. */
export function isKind(text: string | undefined): text is Kind {
  return text !== undefined && Object.hasOwn(kinds, text);
}
