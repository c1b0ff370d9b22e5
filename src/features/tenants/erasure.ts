import pLimit from "p-limit";
import { apiKeys as apiKeyDocuments } from "../../../projections/api-keys/api-keys.ts";
import { destinations as destinationDocuments } from "../../../projections/destinations/destinations.ts";
import { events, eventsOrdered } from "../../../projections/events/events.ts";
import { portalLinks as portalLinkDocuments } from "../../../projections/portal-links/portal-links.ts";
import { purges } from "../../../projections/purges/purges.ts";
import { senders as senderDocuments } from "../../../projections/senders/senders.ts";
import { serviceAccounts as accountDocuments } from "../../../projections/service-accounts/service-accounts.ts";
import { erasures } from "../../../projections/tenants/tenants.ts";
import { views as viewDocuments } from "../../../projections/views/views.ts";
import { tenantOf, type DomainEvent } from "../../kernel/domain/domain-event.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { streams, refusalsOf } from "../../kernel/domain/streams.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { AggregateType } from "../../kernel/log/aggregates.ts";
import { entriesOf, serviceOrigin, type Origin } from "../../kernel/log/origin.ts";
import { sleep, timestampNow } from "../../kernel/ports/clock.ts";
import {
  LogUnavailable, logStart, noStream, type EventStore, type LogEntry, type RecordedEvent, type UnreadableEntry,
} from "../../kernel/ports/event-store.ts";
import type { Document, Collection } from "../../kernel/ports/read-models.ts";
import { documentOf, everyDocument } from "../../kernel/read-models/scans.ts";
import { decide as decideDestination } from "../destinations/decide.ts";
import { destinations } from "../destinations/facts.ts";
import { eventStatuses, type EventStatus, isFinished } from "../events/facts.ts";
import { apiKeys, decide as decideApiKey } from "../keys/api-keys/decide.ts";
import { decide as decideAccount } from "../keys/service-accounts/decide.ts";
import { serviceAccounts } from "../keys/service-accounts/facts.ts";
import { decide as decideNotifications } from "../notifications/decide.ts";
import { notifications } from "../notifications/facts.ts";
import type { Sessions } from "../people/sessions/sessions.ts";
import { decide as decidePortalLink } from "../portal/decide.ts";
import { portalLinks } from "../portal/facts.ts";
import type { PurgeCommands } from "../purges/commands.ts";
import { decide as decideSender } from "../senders/decide.ts";
import { senders } from "../senders/facts.ts";
import { decide as decideView } from "../views/decide.ts";
import { views } from "../views/facts.ts";
import { decide, decide as decideTenant } from "./decide.ts";
import { tenants, type TenantEvent } from "./facts.ts";
import type { ReservationEvent } from "./reservations/facts.ts";
import type { Reservations } from "./reservations/reservations.ts";

/** The steps that differ between stopped and running relays. */
export interface ErasureSteps {
  /** Ends the work of relays for the tenant, if there is such a tenant. */
  readonly endWork: (tenantId: string) => Promise<void>;
  /** Takes the tenant, whose streams are deleted, out of the read models. */
  readonly forget: (tenantId: string) => Promise<void>;
}

const marker = "erasure/tenant";
const batch = 1_000;

/** Above any person of the tenant. */
const operator = { role: "Owner" } as const;

const lookAgainMs = 200;

/** How long one wait for the read models lasts, before it is repeated. */
const coverMs = 2_000;

const deactivatedAtOnce = 100;

/** Removes a tenant and all its own from the log. The expiring state names it until the end, for a resumption. */
export class Erasure {
  readonly #parts;
  readonly #steps: ErasureSteps;
  /** One tenant is erased at a time. */
  readonly #exclusively = pLimit(1);

  constructor(
    parts: Pick<KernelParts, "store" | "aggregates" | "state" | "clock" | "ids">
      & { readonly reservations: Reservations },
    steps: ErasureSteps,
  ) {
    this.#parts = parts;
    this.#steps = steps;
  }

  /** Erases a tenant, or finishes that; the number of streams deleted. Throws a Refusal (not-found, unavailable). */
  erase(tenantId: string): Promise<number> {
    return this.#exclusively(() => this.#erase(tenantId));
  }

  /** Finishes an interrupted erasure; the tenant's id, or null. Throws a Refusal (unavailable). */
  async resume(): Promise<string | null> {
    const tenantId = await this.#unfinished();
    if (tenantId !== null) await this.#resume(tenantId);
    return tenantId;
  }

  async #erase(tenantId: string): Promise<number> {
    const { aggregates, state, clock } = this.#parts;
    await this.#steps.endWork(tenantId);
    const unfinished = await this.#unfinished();
    const finished = unfinished === null ? 0 : await this.#resume(unfinished);
    if (unfinished === tenantId) return finished;
    await this.#requireReadable(tenantId);
    const { state: tenant } = await aggregates.current(tenants, tenantId);
    if (!tenant) refuse("not-found", `there is no tenant ${tenantId}`);
    await state.put(marker, tenantId, null);
    const command = { type: "EraseTenant", at: timestampNow(clock) } as const;
    await aggregates.change(tenants, tenantId, this.#origin(), (current) => (current ? decide(current, command) : []));
    return this.#finish(tenantId);
  }

  async #resume(tenantId: string): Promise<number> {
    await this.#requireReadable(tenantId);
    return this.#finish(tenantId);
  }

  /** Refuses unless all of it can be erased: entries of a newer release may be the tenant's. */
  async #requireReadable(tenantId: string): Promise<void> {
    const { store } = this.#parts;
    const others = new Set<string>();
    for await (const entries of pagesOfLog(store)) {
      for (const entry of entries) {
        if (entry.unreadable === undefined || !entry.newer || others.has(entry.stream)) continue;
        const owner = await this.#ownerOf(entry.stream);
        if (owner !== undefined && owner !== tenantId) others.add(entry.stream);
        else if (await this.#isThere(entry)) refuse("unavailable", leftToNewer(entry));
      }
    }
  }

  async #ownerOf(stream: string): Promise<string | undefined> {
    const [first] = await this.#parts.store.readStream(stream, { limit: 1 });
    if (first?.unreadable !== undefined) return undefined;
    return first && tenantOf(first);
  }

  /** Whether an entry is still in its stream: readers of the whole log may still get deleted entries. */
  async #isThere({ stream, revision }: UnreadableEntry): Promise<boolean> {
    const [entry] = await this.#parts.store.readStream(stream, { from: revision, limit: 1 });
    return entry?.revision === revision;
  }

  async #unfinished(): Promise<string | null> {
    const [tenantId] = await this.#parts.state.get([marker]);
    return tenantId || null;
  }

  async #finish(tenantId: string): Promise<number> {
    const { store, state, clock } = this.#parts;
    const own = streams.tenant(tenantId);
    let deleted = 0;
    for await (const entries of pagesOfLog(store)) {
      const found = new Set<string>();
      for (const entry of entries) {
        if (entry.unreadable !== undefined || entry.stream === own) continue;
        if (isReservation(entry)) await this.#release(entry, tenantId);
        else if (tenantOf(entry) === tenantId) found.add(entry.stream);
      }
      await Promise.all([...found].map((stream) => store.deleteStream(stream)));
      deleted += found.size;
    }
    // Last: after it, only the marker knows that there is a tenant to erase.
    await store.deleteStream(own);
    const event: TenantEvent = { type: "TenantErased", data: { tenantId, at: timestampNow(clock) } };
    await store.append(own, noStream, entriesOf([event], this.#origin(), this.#parts.ids));
    await this.#steps.forget(tenantId);
    await state.dropTallies(refusalsOf(tenantId));
    await state.put(marker, "", 1);
    return deleted;
  }

  async #release({ stream, data }: RecordedEvent<ReservationEvent>, tenantId: string): Promise<void> {
    if (data.holder.tenantId !== tenantId) return;
    const { reservations } = this.#parts;
    const mine = async () => {
      const held = await reservations.find(stream);
      return held?.holder.tenantId === tenantId ? held : undefined;
    };
    const held = await mine();
    if (held) await reservations.release(held, this.#origin());
    if (held && (await mine())) throw new LogUnavailable(`${stream} could not be released`);
  }

  #origin(): Origin {
    return serviceOrigin("operator", this.#parts.ids);
  }
}

/** The steps of an erasure beside running relays, which do most of it. A repeated call carries on. */
export class LiveErasure implements ErasureSteps {
  readonly #parts;

  constructor(
    parts: Pick<KernelParts, "store" | "readModels" | "freshness" | "aggregates" | "clock" | "ids">
      & { readonly sessions: Sessions; readonly purge: PurgeCommands },
  ) {
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
    await aggregates.change(notifications, tenantId, origin, (state = []) =>
      state.flatMap(({ id }) => decideNotifications(state, { type: "Unsubscribe", id, at })));
    await endEach(portalLinkDocuments, portalLinks, (link) =>
      (link.deleted ? [] : decidePortalLink(link, { type: "DeleteLink", at })));
    await endEach(viewDocuments, views, (view) =>
      (view.deleted ? [] : decideView(view, { type: "DeleteView", at })));
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

async function* pagesOfLog(store: Pick<EventStore, "readLog">): AsyncGenerator<readonly LogEntry[], void> {
  for (let after = logStart; ;) {
    const { entries, upTo } = await store.readLog(after, batch);
    yield entries;
    if (entries.length === 0 && upTo <= after) return;
    after = upTo;
  }
}

function leftToNewer({ type, stream }: UnreadableEntry): string {
  return `a newer release of the relay wrote an entry of type ${type} into the stream ${stream}: erase the tenant with `
    + "that release, which can tell all that belongs to it";
}

function isReservation(entry: RecordedEvent): entry is RecordedEvent<ReservationEvent> {
  return entry.type === "NameReserved" || entry.type === "NameReleased";
}
