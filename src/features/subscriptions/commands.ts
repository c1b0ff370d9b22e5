import { subscriptions as documents } from "../../../projections/subscriptions/subscriptions.ts";
import type { Inputs } from "../../../schemas/api.ts";
import { existing, ownerOfNew, requireOwn, requireOwnersOwn } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { checkPlainText } from "../../kernel/callers/input-rules.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { requireRole } from "../../kernel/domain/roles.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import { pagesOf } from "../../kernel/read-models/scans.ts";
import { destinations } from "../destinations/facts.ts";
import { checkedMapping } from "../mappings.ts";
import { senders, type Mapping } from "../senders/facts.ts";
import { decide, type SubscriptionsCommand } from "./decide.ts";
import { subscriptions, subscriptionsId, type SubscriptionSettings } from "./facts.ts";
import { problemOfFilter, type Filter } from "./filter.ts";
import type { SubscriptionQueries, SubscriptionView } from "./queries.ts";
import { problemOfEventTypes } from "./routing.ts";

const removedAtOnce = 500;

/** The deleted thing whose subscriptions end. */
type EndOfSubscriptions = { readonly destinationUrlId: string } | { readonly senderId: string };

/** Commands on subscriptions. */
export class SubscriptionCommands {
  readonly #parts;

  constructor(
    parts: Pick<
      KernelParts, "aggregates" | "readModels" | "freshness" | "mappings" | "clock" | "ids" | "logger"
    > & { readonly queries: SubscriptionQueries },
  ) {
    this.#parts = parts;
  }

  /** Subscribes a destination to a sender. Throws a Refusal (invalid, not-found, forbidden, conflict, rejected). */
  async create(caller: Caller, input: Inputs["createSubscription"], origin: Origin): Promise<SubscriptionView> {
    const { aggregates, queries, ids, clock } = this.#parts;
    const { tenantId } = caller;
    if (input.ownerId !== null) checkPlainText("ownerId", input.ownerId);
    const { eventTypes = null, filter = null, mapping = null } = await this.#checked(tenantId, input);
    const [sender, destination] = await Promise.all([
      existing(aggregates, senders, input.senderId.toLowerCase(), "senderId: sender"),
      existing(aggregates, destinations, input.destinationUrlId.toLowerCase(), "destinationUrlId: destination"),
    ]);
    requireOwn(sender, caller, "sender");
    requireOwn(destination, caller, "destination");
    requireRole(caller, "Developer", "create subscriptions");
    const ownerId = ownerOfNew(caller, input.ownerId);
    if (!sender.fanOut) refuse("rejected", "the sender does not fan out");
    const id = ids.uuid();
    const [senderId, destinationId] = [sender.id, destination.id];
    const subscription = { id, tenantId, senderId, destinationId, ownerId, eventTypes, filter, mapping };
    const command: SubscriptionsCommand = { type: "Subscribe", subscription, at: timestampNow(clock) };
    const stream = subscriptionsId(senderId, ownerId);
    await this.#change(stream, origin, command);
    return queries.at(stream, id);
  }

  /** Changes the given settings. Throws a Refusal (invalid, not-found, forbidden). */
  async change(
    caller: Caller, id: string, { status, ...input }: Inputs["updateSubscription"], origin: Origin,
  ): Promise<SubscriptionView> {
    const { queries, clock } = this.#parts;
    const settings = await this.#checked(caller.tenantId, input);
    const { stream, subscription } = await queries.own(caller, id);
    requireRole(caller, "Developer", "change subscriptions");
    requireOwnersOwn(caller, subscription, "subscription");
    const active = status && status === "active";
    const command = { type: "ChangeSubscription", id, ...settings, active, at: timestampNow(clock) } as const;
    await this.#change(stream, origin, command);
    return queries.at(stream, id);
  }

  /** Deletes a subscription. Throws a Refusal (not-found, forbidden). */
  async remove(caller: Caller, id: string, origin: Origin): Promise<void> {
    const { queries, clock } = this.#parts;
    const { stream, subscription } = await queries.own(caller, id);
    requireRole(caller, "Developer", "delete subscriptions");
    requireOwnersOwn(caller, subscription, "subscription");
    await this.#change(stream, origin, { type: "Unsubscribe", id, at: timestampNow(clock) });
  }

  /**
   * Deletes the subscriptions of a deleted destination, or to a deleted sender, as far as the read models tell of them.
   * Remaining ones deliver nothing: such a sender accepts no messages, and deliveries to such a destination are
   * cancelled.
   */
  async removeAll({ tenantId }: Caller, of: EndOfSubscriptions, origin: Origin): Promise<void> {
    const { readModels, freshness, aggregates, clock, logger } = this.#parts;
    const at = timestampNow(clock);
    try {
      await freshness.wait();
      for await (const page of pagesOf(readModels, documents, { where: { tenantId, ...of }, size: removedAtOnce })) {
        const byStream = Map.groupBy(page, ({ senderId, ownerId }) => subscriptionsId(senderId, ownerId));
        await Promise.all([...byStream].map(async ([stream, those]) => {
          const ended = new Set(those.map(({ id }) => id));
          await aggregates.change(subscriptions, stream, origin, (state) =>
            (state?.live ?? []).filter(({ id }) => ended.has(id))
              .flatMap(({ id }) => decide(state, { type: "Unsubscribe", id, at })));
        }));
      }
    } catch (error) {
      logger.warn({ err: error, tenantId, ...of }, "subscriptions of a deleted destination or sender stay");
    }
  }

  async #change(stream: string, origin: Origin, command: SubscriptionsCommand): Promise<void> {
    await this.#parts.aggregates.change(subscriptions, stream, origin, (state) => decide(state, command));
  }

  /** The given settings; absent ones stay undefined. Throws a Refusal (invalid). */
  async #checked(
    tenantId: string, { eventTypes, filter, mapping }: {
      readonly eventTypes?: readonly string[] | null;
      readonly filter?: Filter | null;
      readonly mapping?: Mapping | null;
    },
  ): Promise<{ readonly [Name in keyof SubscriptionSettings]: SubscriptionSettings[Name] | undefined }> {
    const problem = problemOfEventTypes(eventTypes ?? []) ?? (filter ? problemOfFilter(filter) : null);
    if (problem !== null) refuse("invalid", problem);
    return { eventTypes, filter, mapping: mapping && (await checkedMapping(this.#parts.mappings, tenantId, mapping)) };
  }
}
