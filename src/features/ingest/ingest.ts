import { eventIdOf, keyOfEvent } from "../../kernel/domain/event-id.ts";
import { slotIn } from "../../kernel/domain/ordering.ts";
import { Refusal } from "../../kernel/domain/refusal.ts";
import { streams } from "../../kernel/domain/streams.ts";
import { millis, timestamp } from "../../kernel/domain/time.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { entriesOf, type Origin } from "../../kernel/log/origin.ts";
import { EntryTooLarge, LogUnavailable, noStream, type NewEntry } from "../../kernel/ports/event-store.ts";
import type { PlatformKeys } from "../../kernel/sealing/platform-keys.ts";
import { onceKnown } from "../../kernel/tools/once-known.ts";
import type { Availability } from "../destinations/facts.ts";
import { decide } from "../events/decide.ts";
import { evolve, type WebhookEvent } from "../events/facts.ts";
import { tagsOf } from "../senders/facts.ts";
import type { CredentialLookup } from "./credential-lookup.ts";
import type { Acceptance, Duplicate, Duplicates } from "./duplicates.ts";
import type { ClaimOutcome, FirstAttempts, FirstClaim } from "./first-attempts.ts";
import type { MessageIntake } from "./message-intake.ts";
import { mappedUnder, type Posted } from "./posted.ts";
import type { Admission, AdmitAgain, DirectAdmission, FanOutAdmission } from "./producer-authentication.ts";

/** Taking events in: the one path that every webhook goes through, and the one that must be fast. */
export class Ingest {
  readonly #parts;

  constructor(
    parts: Pick<KernelParts, "store" | "clock" | "ids" | "metrics" | "mappings"> & {
      readonly credentials: CredentialLookup;
      readonly keys: PlatformKeys;
      readonly duplicates: Duplicates;
      readonly firstAttempts: FirstAttempts;
      readonly messageIntake: MessageIntake;
    },
  ) {
    this.#parts = parts;
  }

  /** Stores the event, or the message, as its sender maps it, once; resolves when it is durable. Throws a Refusal. */
  async accept(
    admitted: Admission, posted: Posted, admit: AdmitAgain<Admission>,
  ): Promise<{ readonly accepted: Acceptance } | { readonly duplicate: Duplicate }> {
    const { clock, ids, keys, mappings, metrics, store, duplicates, messageIntake } = this.#parts;
    const { received, idempotencyKey, correlationId, traceparent, eventType, ownerId, tags } = posted;
    const { events } = await keys.get();
    let admission = admitted;
    const { tenantId } = admitted.key;
    if (events.mayBeUnkeyed && idempotencyKey !== undefined) {
      const earlier = await duplicates.findUnkeyed(tenantId, idempotencyKey);
      if (earlier) return { duplicate: earlier };
      // The look-up may take long: a key, destination or sender may have been revoked, deleted or changed meanwhile.
      admission = await admit();
    }
    if (admission.destination === null) {
      return messageIntake.accept(admission, posted, admit as AdmitAgain<FanOutAdmission>);
    }
    let direct = admission;
    let mapped: string | Refusal = received;
    if (direct.sender?.mapping) {
      const again = admit as AdmitAgain<DirectAdmission>;
      ({ admission: direct, mapped } = await mappedUnder(mappings, direct, received, again));
    }
    const { key, destination, sender } = direct;
    const payload = mapped instanceof Refusal ? mapped : (await this.#obstacle(direct)) ?? mapped;
    if (payload instanceof Refusal) {
      return { duplicate: await duplicates.insteadOf(payload, tenantId, idempotencyKey) };
    }
    const allTags = sender ? tagsOf(sender.searchFields, received, tags) : tags;
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
        // By the time the stream can begin again, the claimer may have lost the destination.
        claim = null;
        const duplicate = await duplicates.inTheWay(error, tenantId, idempotencyKey, stream, origin);
        if (duplicate) return { duplicate };
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

  #obstacle({ sender, destination }: DirectAdmission): Refusal | null | Promise<Refusal | null> {
    if (sender && !sender.active) return new Refusal("rejected", "the sender is inactive");
    if (destination.deleted) return new Refusal("rejected", "the sender's destination was deleted");
    if (destination.active && destination.whenSuspended === "hold") return null;
    const { credentials, clock } = this.#parts;
    return onceKnown(credentials.availability(destination), (found) => obstacleOf(found, clock.now()));
  }
}

function obstacleOf({ status, suspendedUntil }: Availability, now: number): Refusal | null {
  if (status === "Active") return null;
  if (suspendedUntil === null) return new Refusal("rejected", `the destination is ${status.toLowerCase()}`);
  const retryAfterS = Math.max(1, Math.ceil((millis(suspendedUntil) - now) / 1000));
  return new Refusal("rejected", `the destination is suspended until ${suspendedUntil}`, retryAfterS);
}
