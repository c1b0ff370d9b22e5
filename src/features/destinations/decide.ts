import type { DataOf } from "../../kernel/domain/domain-event.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { changesOf, creationOf, same, type Given, type NewValues } from "../../kernel/domain/settings.ts";
import { dayMs, millis, type Timestamp } from "../../kernel/domain/time.ts";
import { expiryOf, type SealedCertificate } from "./certificates/facts.ts";
import {
  destinationFacts, unset, type DestinationAuth, type DestinationEvent, type DestinationSettings,
  type DestinationState,
} from "./facts.ts";
import { withKept } from "./headers.ts";
import { decideSigning, type SigningCommand } from "./signing/decide.ts";

/** Commands to a destination. In a change, fields left out (undefined) stay as they are. */
export type DestinationCommand =
  | {
      readonly type: "RegisterDestination";
      readonly destination: Given<Omit<DataOf<DestinationEvent, "DestinationRegistered">, "at">>;
      readonly at: Timestamp;
    }
  | NewValues<Omit<DestinationSettings, "headers">> & {
      readonly type: "ChangeDestination";
      /** Sealed; null for values that stay. */
      readonly headers?: Readonly<Record<string, string | null>> | undefined;
      readonly active?: boolean | undefined;
      /** Whether events wait or are under way. */
      readonly isBusy?: boolean;
      /** null removes the configured authentication. */
      readonly auth?: DestinationAuth | null | undefined;
      /** null removes the configured certificate. */
      readonly clientCertificate?: SealedCertificate | null | undefined;
      readonly at: Timestamp;
    }
  | { readonly type: "RegenerateIngestToken"; readonly ingestTokenHash: string; readonly at: Timestamp }
  /** Deactivates the destination if it only failed for too long; `since`: the first of its failures in a row. */
  | { readonly type: "DisableFailing"; readonly since: Timestamp; readonly at: Timestamp }
  /** Records that the client certificate expires soon, once. */
  | { readonly type: "RecordCertificateExpiry"; readonly at: Timestamp }
  | { readonly type: "DeleteDestination"; readonly at: Timestamp }
  | SigningCommand;

/** The facts that a command leads to; an empty list when it changes nothing. Throws a Refusal. */
export function decide(state: DestinationState, command: DestinationCommand): DestinationEvent[] {
  if (command.type === "RegisterDestination") {
    if (state) refuse("conflict", "the destination exists already");
    const { destination, at } = command;
    const data = creationOf(destinationFacts.DestinationRegistered, { ...destination, at }, unset);
    return [{ type: "DestinationRegistered", data }];
  }
  if (!state || state.deleted) refuse("not-found", "destination not found");
  const ids = { destinationId: state.id, tenantId: state.tenantId, at: command.at };
  switch (command.type) {
    case "ChangeDestination": {
      const { active, auth, headers, clientCertificate, isBusy = false, ...others } = command;
      if (isBusy && !same(others.ordering ?? state.ordering, state.ordering)) {
        refuse("rejected", "ordering: cannot change while events of the destination wait");
      }
      const settings = { ...others, headers: headers && withKept(state.headers, headers) };
      const events: DestinationEvent[] = changesOf(destinationFacts, state, settings, ids);
      if (auth === null && state.auth) events.push({ type: "DestinationAuthRemoved", data: ids });
      if (auth) events.push({ type: "DestinationAuthConfigured", data: { ...ids, auth } });
      if (clientCertificate === null && state.clientCertificate) {
        events.push({ type: "DestinationCertificateRemoved", data: ids });
      }
      if (clientCertificate) {
        events.push({ type: "DestinationCertificateConfigured", data: { ...ids, clientCertificate } });
      }
      if (active !== undefined && active !== state.active) {
        events.push({ type: active ? "DestinationActivated" : "DestinationDeactivated", data: ids });
      }
      return events;
    }
    case "RegenerateIngestToken": {
      const { ingestTokenHash } = command;
      const previousTokenHash = state.ingestTokenHash;
      return [{ type: "IngestTokenRegenerated", data: { ...ids, ingestTokenHash, previousTokenHash } }];
    }
    case "DisableFailing": {
      const { active, activeSince, disableAfterDays } = state;
      if (!active || disableAfterDays === null) return [];
      const since = Math.max(millis(command.since), millis(activeSince));
      if (millis(command.at) - since < disableAfterDays * dayMs) return [];
      return [{ type: "DestinationDeactivated", data: { ...ids, reason: "failing" } }];
    }
    case "RecordCertificateExpiry":
      return expiryOf(state, command.at);
    case "DeleteDestination":
      return [{ type: "DestinationDeleted", data: { ...ids, ingestTokenHash: state.ingestTokenHash } }];
    default:
      return decideSigning(state, command);
  }
}
