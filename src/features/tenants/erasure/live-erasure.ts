import { apiKeys as apiKeyDocuments } from "../../../../projections/api-keys/api-keys.ts";
import { destinations as destinationDocuments } from "../../../../projections/destinations/destinations.ts";
import { events, eventsOrdered } from "../../../../projections/events/events.ts";
import { purges } from "../../../../projections/purges/purges.ts";
import { senders as senderDocuments } from "../../../../projections/senders/senders.ts";
import { serviceAccounts as accountDocuments } from "../../../../projections/service-accounts/service-accounts.ts";
import { erasures } from "../../../../projections/tenants/tenants.ts";
import type { DomainEvent } from "../../../kernel/domain/domain-event.ts";
import type { Aggregates, AggregateType } from "../../../kernel/log/aggregates.ts";
import { serviceOrigin, type Origin } from "../../../kernel/log/origin.ts";
import { type Clock, sleep, timestampNow } from "../../../kernel/ports/clock.ts";
import type { EventStore } from "../../../kernel/ports/event-store.ts";
import type { Ids } from "../../../kernel/ports/ids.ts";
import type { Document, ReadModels, Collection } from "../../../kernel/ports/read-models.ts";
import type { Freshness } from "../../../kernel/read-models/freshness.ts";
import { documentOf, everyDocument } from "../../../kernel/read-models/scans.ts";
import { decide as decideDestination } from "../../destinations/decide.ts";
import { destinations } from "../../destinations/facts.ts";
import { eventStatuses, type EventStatus, isFinished } from "../../events/facts.ts";
import { apiKeys, decide as decideApiKey } from "../../keys/api-keys/decide.ts";
import { decide as decideAccount } from "../../keys/service-accounts/decide.ts";
import { serviceAccounts } from "../../keys/service-accounts/facts.ts";
import type { Sessions } from "../../people/sessions/sessions.ts";
import type { PurgeCommands } from "../../purges/commands.ts";
import { decide as decideSender } from "../../senders/decide.ts";
import { senders } from "../../senders/facts.ts";
import { decide as decideTenant } from "../decide.ts";
import { tenants } from "../facts.ts";
import type { ErasureSteps } from "./erasure.ts";

/** Above any person of the tenant. */
const operator = { role: "Owner" } as const;
/** How soon the work of others is looked at again. */
const lookAgainMs = 200;
/** How long one wait for the read models lasts, before it is repeated. */
const coverMs = 2_000;
/** Users that one append deactivates. */
const deactivatedAtOnce = 100;

interface LiveErasureParts {
  readonly store: EventStore;
  readonly readModels: ReadModels;
  readonly freshness: Freshness;
  readonly aggregates: Aggregates;
  readonly sessions: Sessions;
  readonly purge: PurgeCommands;
  readonly clock: Clock;
  readonly ids: Ids;
}

/**
 * The steps of an erasure beside running relays, which do most of it: they cancel the events of deleted destinations,
 * purge finished events, and remove what is left of an erased tenant from the read models. A repeated call carries on.
 */
export class LiveErasure implements ErasureSteps {
  readonly #parts: LiveErasureParts;

  constructor(parts: LiveErasureParts) {
    this.#parts = parts;
  }

  /** Ends the tenant's work for good: nobody logs in or posts for it any more, and it has no events. */
  async endWork(tenantId: string): Promise<void> {
    const { state: tenant } = await this.#parts.aggregates.current(tenants, tenantId);
    if (!tenant) return;
    do await this.#close(tenantId);
    while (await this.#has(tenantId, eventStatuses.filter((status) => !isFinished(status))));
    await this.#purge(tenantId);
  }

  /** Resolves when the read models have nothing of the tenant any more. */
  async forget(tenantId: string): Promise<void> {
    const { store, readModels, clock } = this.#parts;
    const head = await store.head();
    while (!(await readModels.caughtUp(head, coverMs)));
    while ((await documentOf(readModels, erasures, tenantId)) !== null) await sleep(clock, lookAgainMs);
  }

  /** Nobody logs in or posts for the tenant any more, and its events are cancelled. */
  async #close(tenantId: string): Promise<void> {
    const { readModels, freshness, aggregates, clock, ids } = this.#parts;
    const origin = serviceOrigin("operator", ids);
    const at = timestampNow(clock);
    await this.#deactivateUsers(tenantId, origin);
    await freshness.wait();
    const endEach = async <Shape extends Document & { readonly id: string }, State, Event extends DomainEvent>(
      documents: Collection<Shape>, type: AggregateType<State, Event>, end: (state: State) => readonly Event[],
    ) => {
      for (const { id } of await everyDocument(readModels, documents, { where: { tenantId } })) {
        await aggregates.change(type, id, origin, (state) => (state ? end(state) : []));
      }
    };
    await endEach(apiKeyDocuments, apiKeys, (key) =>
      (key.revoked ? [] : decideApiKey(key, { type: "RevokeApiKey", at })));
    await endEach(accountDocuments, serviceAccounts, (account) =>
      (account.deleted ? [] : decideAccount(account, { type: "DeleteServiceAccount", by: operator, at })));
    await endEach(senderDocuments, senders, (sender) =>
      (sender.deleted ? [] : decideSender(sender, { type: "DeleteSender", at })));
    await endEach(destinationDocuments, destinations, (destination) =>
      (destination.deleted ? [] : decideDestination(destination, { type: "DeleteDestination", at })));
  }

  /** Ends all sessions, for good: the log has it, also after a kill. */
  async #deactivateUsers(tenantId: string, origin: Origin): Promise<void> {
    const { aggregates, sessions, clock } = this.#parts;
    for (let left = true; left;) {
      const command = { type: "DeactivateUsers", most: deactivatedAtOnce, at: timestampNow(clock) } as const;
      const { events: deactivated } = await aggregates.change(tenants, tenantId, origin, (state) =>
        (state ? decideTenant(state, command) : []));
      for (const { data } of deactivated) if ("userId" in data) await sessions.endOlder(tenantId, data.userId);
      left = deactivated.length > 0;
    }
  }

  /** Whether there is an event in one of these statuses, by read models that are new enough; waits a moment if so. */
  async #has(tenantId: string, statuses: readonly EventStatus[]): Promise<boolean> {
    const { freshness, readModels, clock } = this.#parts;
    await freshness.wait();
    const anyOf = { field: "status", values: statuses };
    const query = { collection: events.name, where: { tenantId }, anyOf, order: eventsOrdered(false), limit: 1 };
    const found = (await readModels.find(query)).length > 0;
    if (found) await sleep(clock, lookAgainMs);
    return found;
  }

  /** Purges the tenant's events; resolves when their streams are deleted. */
  async #purge(tenantId: string): Promise<void> {
    const { purge, readModels, freshness, clock, ids } = this.#parts;
    while (await this.#has(tenantId, eventStatuses)) {
      const underWay = await everyDocument(readModels, purges, { where: { tenantId } });
      if (underWay.length === 0) await purge.purgeAll(tenantId, serviceOrigin("operator", ids));
    }
    for (;;) {
      await freshness.wait();
      if ((await everyDocument(readModels, purges, { where: { tenantId } })).length === 0) return;
      await sleep(clock, lookAgainMs);
    }
  }
}
