import type { DataOf } from "../domain-event.ts";
import { refuse } from "../refusal.ts";
import type { Timestamp } from "../time.ts";
import type { Mapping, SenderEvent, SenderState } from "./events.ts";
import type { SearchField } from "./search-fields.ts";

/** Commands to a sender. In a change, fields left out (undefined) stay as they are. */
export type SenderCommand =
  | {
      readonly type: "CreateSender";
      readonly sender: Omit<DataOf<SenderEvent, "SenderCreated">, "at">;
      readonly at: Timestamp;
    }
  | {
      readonly type: "ChangeSender";
      readonly name?: string | undefined;
      readonly destinationId?: string | undefined;
      readonly active?: boolean | undefined;
      /** null removes the mapping. */
      readonly mapping?: Mapping | null | undefined;
      readonly searchFields?: readonly SearchField[] | undefined;
      readonly at: Timestamp;
    }
  | { readonly type: "RegenerateIngestToken"; readonly ingestTokenHash: string; readonly at: Timestamp }
  | { readonly type: "DeleteSender"; readonly at: Timestamp };

/** The facts that a command leads to; an empty list when it changes nothing. Throws a Refusal. */
export function decide(state: SenderState, command: SenderCommand): SenderEvent[] {
  if (command.type === "CreateSender") {
    if (state) refuse("conflict", "the sender exists already");
    return [{ type: "SenderCreated", data: { ...command.sender, at: command.at } }];
  }
  if (!state || state.deleted) refuse("not-found", "sender not found");
  const ids = { senderId: state.id, tenantId: state.tenantId, at: command.at };
  switch (command.type) {
    case "ChangeSender": {
      const { name, destinationId, active, mapping, searchFields } = command;
      const events: SenderEvent[] = [];
      if (name !== undefined && name !== state.name) events.push({ type: "SenderRenamed", data: { ...ids, name } });
      if (destinationId !== undefined && destinationId !== state.destinationId) {
        events.push({ type: "SenderDestinationChanged", data: { ...ids, destinationId } });
      }
      if (mapping !== undefined && !same(mapping, state.mapping)) {
        events.push({ type: "SenderMappingChanged", data: { ...ids, mapping } });
      }
      if (searchFields && !sameFields(searchFields, state.searchFields)) {
        events.push({ type: "SenderSearchFieldsChanged", data: { ...ids, searchFields } });
      }
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

function sameFields(some: readonly SearchField[], others: readonly SearchField[]): boolean {
  return some.length === others.length
    && some.every(({ name, path }, at) => name === others[at]?.name && path === others[at].path);
}

function same(one: Mapping | null, other: Mapping | null): boolean {
  return one?.language === other?.language && one?.expression === other?.expression;
}
