import { eventIdOf, keyOfEvent } from "../../kernel/domain/event-id.ts";
import { slotIn } from "../../kernel/domain/ordering.ts";
import { Refusal, refuse } from "../../kernel/domain/refusal.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { Tags } from "../../kernel/domain/tags.ts";
import { millis, timestamp } from "../../kernel/domain/time.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { entriesOf, type Origin } from "../../kernel/log/origin.ts";
import { isNewer } from "../../kernel/log/unreadable.ts";
import {
  EntryTooLarge, LogUnavailable, logStart, noStream, RevisionConflict, type NewEntry,
} from "../../kernel/ports/event-store.ts";
import type { PlatformKeys } from "../../kernel/sealing/platform-keys.ts";
import { onceKnown } from "../../kernel/tools/once-known.ts";
import type { Availability } from "../destinations/facts.ts";
import { decide } from "../events/decide.ts";
import { evolve, type Webhook, type WebhookEvent, type WebhookState } from "../events/facts.ts";
import {
  hasKey, loadAcceptedByKey, loadShownByKey, loadShownOf, loadShownUnkeyed, eventView, type EventView,
} from "../events/webhooks.ts";
import { recordUse } from "../keys/api-keys/decide.ts";
import { tagsOfBody } from "../senders/facts.ts";
import type { CredentialLookup } from "./credential-lookup.ts";
import type { ClaimOutcome, FirstAttempts, FirstClaim } from "./first-attempts.ts";
import type { Admission } from "./producer-authentication.ts";

/** The answer to a producer about an event; for one accepted just now, `status` is Pending. */
export interface Acceptance {
  readonly eventId: string;
  readonly status: string;
  readonly acceptedAt: string;
}

/** An event that exists already under the idempotency key. */
export type Duplicate = EventView & Acceptance;

/** A producer's request. */
export interface Posted {
  readonly received: string;
  readonly idempotencyKey?: string | undefined;
  readonly eventType?: string | undefined;
  readonly ownerId?: string | undefined;
  readonly tags?: Tags | undefined;
  readonly correlationId: string;
  readonly traceparent?: string | undefined;
}

const nameTaken = "X-Idempotency-Key: gives the id of another key's event; post this one under another key";

/** Taking events in: the one path that every webhook goes through, and the one that must be fast. */
export class Ingest {
  readonly #parts;

  constructor(
    parts: Pick<KernelParts, "store" | "aggregates" | "freshness" | "clock" | "ids" | "metrics" | "mappings">
      & { readonly credentials: CredentialLookup; readonly keys: PlatformKeys; readonly firstAttempts: FirstAttempts },
  ) {
    this.#parts = parts;
  }

  /** Stores the event as its sender maps it, once; resolves when it is durable. Throws a Refusal. */
  async accept(
    admitted: Admission,
    { received, idempotencyKey, correlationId, traceparent, eventType, ownerId, tags }: Posted,
    admit: () => Admission | Promise<Admission>,
  ): Promise<{ readonly accepted: Acceptance } | { readonly duplicate: Duplicate }> {
    const { clock, ids, keys, metrics, store } = this.#parts;
    const { events } = await keys.get();
    let admission = admitted;
    if (events.mayBeUnkeyed && idempotencyKey !== undefined) {
      const { tenantId } = admission.destination;
      const earlier = await this.#orAccepted(tenantId, idempotencyKey, () =>
        loadShownUnkeyed(this.#parts, tenantId, idempotencyKey));
      if (earlier) return { duplicate: duplicateOf(earlier) };
      // The look-up may take long: a key, destination or sender may have been revoked, deleted or changed meanwhile.
      admission = await admit();
    }
    let mapped: string | Refusal = received;
    if (admission.sender?.mapping) ({ admission, mapped } = await this.#mapped(admission, received, admit));
    const { key, destination, sender } = admission;
    const { tenantId } = destination;
    const payload = mapped instanceof Refusal ? mapped : (await this.#obstacle(admission)) ?? mapped;
    if (payload instanceof Refusal) {
      // A repeated request is answered even if its sender or destination would refuse it now.
      const duplicate = await this.#find(tenantId, idempotencyKey);
      if (duplicate) return { duplicate };
      throw payload;
    }
    const fields = sender?.searchFields;
    const allTags = fields?.length ? tagsWith(tagsOfBody(fields, received), tags) : tags;
    const eventKey = idempotencyKey === undefined ? keyOfEvent(ids.uuid()) : events.of(tenantId, idempotencyKey);
    const now = clock.now();
    const at = timestamp(now);
    const eventId = eventIdOf(now, eventKey);
    const stream = streams.event(eventId);
    const facts = decide(undefined, {
      type: "Accept",
      event: {
        eventId, tenantId, destinationId: destination.id, apiKeyId: key.id,
        senderId: sender?.id ?? null, senderRevision: sender?.revision ?? null,
        idempotencyKey: idempotencyKey ?? null, payload, original: sender?.mapping ? received : null,
        ...(eventType !== undefined && { eventType }), ...(ownerId !== undefined && { ownerId }),
        ...(allTags && { tags: allTags }),
        ...(destination.ordering !== "none" && slotIn(destination.ordering, payload)),
      },
      at,
    });
    const origin: Origin = { actor: { type: "apiKey", id: key.id }, correlationId, causationId: null };
    const accepting = entriesOf(facts, origin, ids, traceparent);
    let claim = this.#claimFirst(facts, accepting);
    for (;;) {
      try {
        await (claim ? this.#appendClaiming(stream, accepting, claim) : store.append(stream, noStream, accepting));
        metrics.accepted();
        return { accepted: { eventId, status: "Pending", acceptedAt: at } };
      } catch (error) {
        if (!(error instanceof RevisionConflict) || idempotencyKey === undefined) throw error;
        // By the time the stream can begin again, the claimer may have lost the destination.
        claim = null;
        const duplicate = await this.#find(tenantId, idempotencyKey);
        if (duplicate) return { duplicate };
        await this.#clear(tenantId, idempotencyKey, stream, origin);
      }
    }
  }

  /** Appends an event's acceptance with the claim of its first attempt, where the log takes both. */
  async #appendClaiming(stream: string, accepting: readonly NewEntry[], claim: FirstClaim): Promise<void> {
    const { store } = this.#parts;
    let outcome: ClaimOutcome = "refused";
    try {
      outcome = await store.append(stream, noStream, [...accepting, ...claim.entries]);
      return;
    } catch (error) {
      if (error instanceof LogUnavailable) outcome = "unknown";
      if (!(error instanceof EntryTooLarge)) throw error;
    } finally {
      claim.settle(outcome);
    }
    await store.append(stream, noStream, accepting);
  }

  #claimFirst([fact]: readonly WebhookEvent[], [accepted]: readonly NewEntry[]): FirstClaim | null {
    const event = fact && evolve(undefined, fact);
    return event && accepted ? this.#parts.firstAttempts.claim(event, accepted) : null;
  }

  /** The body as the sender maps it, or why it cannot, and the admission it was mapped under. */
  async #mapped(
    admitted: Admission, received: string, admit: () => Admission | Promise<Admission>,
  ): Promise<{ readonly admission: Admission; readonly mapped: string | Refusal }> {
    for (let before = admitted; ;) {
      const mapped = await this.#mappedBy(before, received);
      const admission = await admit();
      if (admission.sender?.revision === before.sender?.revision) return { admission, mapped };
      before = admission;
    }
  }

  async #mappedBy({ sender, destination: { tenantId } }: Admission, received: string): Promise<string | Refusal> {
    if (!sender?.mapping) return received;
    const mapped = await this.#parts.mappings.apply(tenantId, sender.mapping.expression, received);
    return "problem" in mapped ? new Refusal("invalid", `body: the sender's mapping ${mapped.problem}`) : mapped.text;
  }

  #obstacle({ sender, destination }: Admission): Refusal | null | Promise<Refusal | null> {
    if (sender && !sender.active) return new Refusal("rejected", "the sender is inactive");
    if (destination.deleted) return new Refusal("rejected", "the sender's destination was deleted");
    if (destination.active && destination.whenSuspended === "hold") return null;
    const { credentials, clock } = this.#parts;
    return onceKnown(credentials.availability(destination), (found) => obstacleOf(found, clock.now()));
  }

  async #find(tenantId: string, idempotencyKey: string | undefined): Promise<Duplicate | undefined> {
    if (idempotencyKey === undefined) return undefined;
    const found = await this.#orAccepted(tenantId, idempotencyKey, () =>
      loadShownByKey(this.#parts, tenantId, idempotencyKey));
    return found && duplicateOf(found);
  }

  /** The event found; as it was accepted where only a newer release can read its later facts. */
  async #orAccepted(
    tenantId: string, idempotencyKey: string, find: () => Promise<WebhookState>,
  ): Promise<WebhookState> {
    try {
      return await find();
    } catch (error) {
      const accepted = isNewer(error) && (await loadAcceptedByKey(this.#parts, tenantId, idempotencyKey));
      if (!accepted) throw error;
      return accepted;
    }
  }

  /** Lets the stream of a purged event begin again. Throws a Refusal (conflict) where it is another key's. */
  async #clear(tenantId: string, idempotencyKey: string, stream: string, origin: Origin): Promise<void> {
    const { state, revision, facts } = await loadShownOf(this.#parts, tenantId, stream);
    if (state && !hasKey(state, tenantId, idempotencyKey)) refuse("conflict", nameTaken);
    const [accepted] = facts;
    if (state || accepted?.type !== "EventAccepted") return;
    await recordUse(this.#parts, accepted.data.apiKeyId, accepted.data.at, origin);
    // Read models that have not seen how the event ended could never remove it.
    await this.#parts.freshness.settle(facts.at(-1)?.position ?? logStart);
    try {
      await this.#parts.store.deleteStream(stream, revision);
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error;
    }
  }
}

/** The tags of a body and of a header; where both have a name, the header's. Undefined where there are none. */
function tagsWith(ofBody: Tags, ofHeader: Tags | undefined): Tags | undefined {
  const tags = { ...ofBody, ...ofHeader };
  return Object.keys(tags).length === 0 ? undefined : tags;
}

function duplicateOf(event: Webhook): Duplicate {
  return { eventId: event.id, ...eventView(event) };
}

function obstacleOf({ status, suspendedUntil }: Availability, now: number): Refusal | null {
  if (status === "Active") return null;
  if (suspendedUntil === null) return new Refusal("rejected", `the destination is ${status.toLowerCase()}`);
  const retryAfterS = Math.max(1, Math.ceil((millis(suspendedUntil) - now) / 1000));
  return new Refusal("rejected", `the destination is suspended until ${suspendedUntil}`, retryAfterS);
}
