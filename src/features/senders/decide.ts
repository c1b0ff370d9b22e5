import type { DataOf } from "../../kernel/domain/domain-event.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { changesOf, creationOf, type Given, type NewValues } from "../../kernel/domain/settings.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import { senderFacts, type Sender, type SenderEvent, type SenderSettings, type SenderState } from "./facts.ts";

/** The settings that only a sender that fans out has. */
export const fanOutSettings = ["eventTypePath", "unmatched"] as const;
export const fanOutOnly = "is for senders that fan out";
export const noDestination = "must be absent, since a sender that fans out has subscriptions";

/** Commands to a sender. In a change, fields left out (undefined) stay as they are. */
export type SenderCommand =
  | {
      readonly type: "CreateSender";
      readonly sender: Given<Omit<DataOf<SenderEvent, "SenderCreated">, "at">>;
      readonly at: Timestamp;
    }
  | {
      readonly type: "CreateFanOutSender";
      readonly sender: Omit<DataOf<SenderEvent, "FanOutSenderCreated">, "at">;
      readonly at: Timestamp;
    }
  | NewValues<SenderSettings & Pick<Sender, "fanOut">> & {
      readonly type: "ChangeSender";
      readonly active?: boolean | undefined;
      readonly at: Timestamp;
    }
  | { readonly type: "RegenerateIngestToken"; readonly ingestTokenHash: string; readonly at: Timestamp }
  | { readonly type: "DeleteSender"; readonly at: Timestamp };

/** The facts that a command leads to; an empty list when it changes nothing. Throws a Refusal. */
export function decide(state: SenderState, command: SenderCommand): SenderEvent[] {
  if (command.type === "CreateSender" || command.type === "CreateFanOutSender") {
    if (state) refuse("conflict", "the sender exists already");
    if (command.type === "CreateFanOutSender") {
      return [{ type: "FanOutSenderCreated", data: { ...command.sender, at: command.at } }];
    }
    const data = creationOf(senderFacts.SenderCreated, { ...command.sender, at: command.at });
    return [{ type: "SenderCreated", data }];
  }
  if (!state || state.deleted) refuse("not-found", "sender not found");
  const ids = { senderId: state.id, tenantId: state.tenantId, at: command.at };
  switch (command.type) {
    case "ChangeSender": {
      const { active } = command;
      const problem = problemOfKind(state, command);
      if (problem !== null) refuse("invalid", problem);
      const events: SenderEvent[] = changesOf(senderFacts, state, command, ids);
      if (active !== undefined && active !== state.active) {
        events.push({ type: active ? "SenderActivated" : "SenderDeactivated", data: ids });
      }
      return events;
    }
    case "RegenerateIngestToken": {
      const { ingestTokenHash } = command;
      const previousTokenHash = state.ingestTokenHash;
      return [{ type: "SenderIngestTokenRegenerated", data: { ...ids, ingestTokenHash, previousTokenHash } }];
    }
    case "DeleteSender":
      return [{ type: "SenderDeleted", data: { ...ids, ingestTokenHash: state.ingestTokenHash } }];
  }
}

/** The problem of settings that only senders of the other kind have; null without any. */
function problemOfKind(
  { fanOut }: Sender, { fanOut: wanted = fanOut, ...given }: NewValues<SenderSettings & Pick<Sender, "fanOut">>,
): string | null {
  if (wanted !== fanOut) return "fanOut: never changes; create another sender";
  if (fanOut) return given.destinationId === undefined ? null : `destinationUrlId: ${noDestination}`;
  const alien = fanOutSettings.find((name) => given[name] !== undefined && given[name] !== null);
  return alien === undefined ? null : `${alien}: ${fanOutOnly}`;
}
