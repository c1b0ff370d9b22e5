import { SystemIds } from "../../src/engines/system/system-ids.ts";
import { decide } from "../../src/features/subscriptions/decide.ts";
import {
  evolve, subscriptionsId, type SubscriptionEvent, type Subscriptions,
} from "../../src/features/subscriptions/facts.ts";
import { streams } from "../../src/kernel/domain/streams.ts";
import { timestamp } from "../../src/kernel/domain/time.ts";
import { entriesOf } from "../../src/kernel/log/origin.ts";
import { noStream } from "../../src/kernel/ports/event-store.ts";
import type { Ids } from "../../src/kernel/ports/ids.ts";
import { ownerIdOf } from "../support/payload.ts";
import type { FanOutRecord } from "../support/relay.ts";
import { openLog } from "./fill.ts";

const ownersATurn = 500;

/** Subscribes all destinations for every owner of the sender, in the log of a relay that is not running. */
export async function fillSubscriptions(dataDir: string, tenant: FanOutRecord): Promise<void> {
  const store = await openLog(dataDir);
  const ids = new SystemIds();
  const actor = { type: "user", id: tenant.tenantId, role: "Owner" } as const;
  const { id: senderId, owners } = tenant.sender;
  const append = (owner: number) => {
    const ownerId = ownerIdOf(owner);
    const facts = subscribed(tenant, ownerId, ids);
    const entries = entriesOf(facts, { actor, correlationId: ids.uuid(), causationId: null }, ids);
    return store.append(streams.subscriptions(subscriptionsId(senderId, ownerId)), noStream, entries);
  };
  for (let done = 0; done < owners; done += ownersATurn) {
    const count = Math.min(ownersATurn, owners - done);
    await Promise.all(Array.from({ length: count }, (_, n) => append(done + n)));
  }
  await store.close();
}

function subscribed({ tenantId, sender, destinations }: FanOutRecord, ownerId: string, ids: Ids): SubscriptionEvent[] {
  const at = timestamp(Date.now());
  let state: Subscriptions | undefined;
  return destinations.flatMap(({ id: destinationId }) => {
    const subscription = {
      id: ids.uuid(), tenantId, senderId: sender.id, destinationId, ownerId, eventTypes: null, filter: null,
      mapping: null,
    };
    const facts = decide(state, { type: "Subscribe", subscription, at });
    state = facts.reduce<Subscriptions | undefined>(evolve, state);
    return facts;
  });
}
