import { expect } from "chai";
import { decide, mostSubscriptions, type SubscriptionsCommand } from "../../../../src/features/subscriptions/decide.ts";
import {
  evolve, liveSubscriptions, subscriptionsId, type SubscriptionEvent, type Subscriptions,
} from "../../../../src/features/subscriptions/facts.ts";
import { LogUnavailable } from "../../../../src/kernel/ports/event-store.ts";
import { folded, specificationsOf } from "../../../support/given.ts";

const subscriptions = { initial: (): Subscriptions => ({ revision: -1, live: [] }), evolve, decide };
const given = specificationsOf(subscriptions);

const uuid = (number: number) => `0193a1b2-c3d4-7000-8000-${String(number).padStart(12, "0")}`;
const [at, later] = ["2026-01-15T09:30:00.000Z", "2026-01-15T10:00:00.000Z"];
const ids = { subscriptionId: uuid(20), tenantId: uuid(1), senderId: uuid(6), ownerId: "acme" };
const settings = { eventTypes: ["invoice.*"], filter: { data: { amount: { $gt: 1 } } }, mapping: null };
const created: SubscriptionEvent = {
  type: "SubscriptionCreated", data: { ...ids, ...settings, destinationId: uuid(3), at },
};
const another = (number: number): SubscriptionEvent => ({
  type: "SubscriptionCreated",
  data: { ...ids, ...settings, subscriptionId: uuid(100 + number), destinationId: uuid(200 + number), at },
});
const deactivated: SubscriptionEvent = { type: "SubscriptionDeactivated", data: { ...ids, at: later } };
const deleted: SubscriptionEvent = { type: "SubscriptionDeleted", data: { ...ids, at: later } };
const subscribe = (fields: object = {}): SubscriptionsCommand => {
  const { subscriptionId: id, ...others } = ids;
  return { type: "Subscribe", subscription: { id, ...others, ...settings, destinationId: uuid(3), ...fields }, at };
};
const change = (fields: object): SubscriptionsCommand =>
  ({ type: "ChangeSubscription", id: ids.subscriptionId, ...fields, at: later });
const unsubscribe: SubscriptionsCommand = { type: "Unsubscribe", id: ids.subscriptionId, at: later };

describe("the subscriptions of an owner to a sender", () => {
  it("have each destination once, until it is unsubscribed", () => {
    given([]).when(subscribe()).gives(created);
    given([created]).when(subscribe({ id: uuid(21) })).refused("conflict", "this sender for this owner");
    given([created]).when(subscribe({ id: uuid(21), destinationId: uuid(4) })).givesTypes("SubscriptionCreated");
    given([created, deleted]).when(subscribe({ id: uuid(21) })).givesTypes("SubscriptionCreated");
  });

  it(`are ${mostSubscriptions} at most`, () => {
    const most = Array.from({ length: mostSubscriptions }, (_, number) => another(number));
    given(most).when(subscribe()).refused("rejected", "50 subscriptions of this owner");
    given(most).when(subscribe({ ownerId: null })).refused("rejected", "50 subscriptions without an owner");
    given(most.slice(1)).when(subscribe()).gives(created);
    const [first] = most;
    const gone: SubscriptionEvent = { type: "SubscriptionDeleted", data: { ...ids, subscriptionId: uuid(100), at } };
    expect(first?.data.subscriptionId).to.equal(gone.data.subscriptionId);
    given([...most, gone]).when(subscribe()).gives(created);
  });

  it("change their types, filter and mapping by one fact, and their status by another", () => {
    const mapping = { language: "jmespath" as const, expression: "{id: id}" };
    const changed = (fields: object): SubscriptionEvent =>
      ({ type: "SubscriptionChanged", data: { ...ids, ...settings, ...fields, at: later } });
    for (const fields of [{ eventTypes: null }, { eventTypes: ["a", "b"] }, { filter: null }, { mapping }]) {
      given([created]).when(change(fields)).gives(changed(fields));
    }
    given([created]).when(change({ active: false, filter: null })).gives(changed({ filter: null }), deactivated);
    given([created, deactivated]).when(change({ active: true })).givesTypes("SubscriptionActivated");
    given([created]).when(change({ ...structuredClone(settings), active: true })).changesNothing();
    given([created]).when(change({ filter: { data: { amount: { $gt: 2 } } } })).givesTypes("SubscriptionChanged");
  });

  it("know the revision of the last change of each, and forget deleted ones", () => {
    const other = another(1);
    const states = [
      [[created], [[uuid(20), 0, true]]],
      [[created, other], [[uuid(20), 0, true], [uuid(101), 1, true]]],
      [[created, other, deactivated], [[uuid(20), 2, false], [uuid(101), 1, true]]],
      [[created, other, deactivated, deleted], [[uuid(101), 1, true]]],
      [[created, deleted, another(2)], [[uuid(102), 2, true]]],
    ] as const;
    for (const [facts, expected] of states) {
      const { revision, live } = folded(subscriptions, facts);
      expect(live.map((one) => [one.id, one.revision, one.active])).to.deep.equal(expected);
      expect(revision).to.equal(facts.length - 1);
    }
  });

  it("refuse changes of an unknown or deleted one", () => {
    for (const past of [[], [another(1)], [created, deleted]]) {
      given(past).when(change({ active: false })).refused("not-found", "subscription");
      given(past).when(unsubscribe).refused("not-found", "subscription");
    }
    given([created]).when(unsubscribe).gives(deleted);
  });

  it("are in a stream for each owner, whatever its name, and in one without an owner", () => {
    const names = ["acme", "Acme", "all", "a.b", "a/b-c", "é".repeat(255), " "];
    const streams = [null, ...names].map((ownerId) => subscriptionsId(uuid(6), ownerId));
    expect(new Set(streams).size).to.equal(names.length + 1);
    expect(streams[0]).to.equal(`${uuid(6)}.all`);
    for (const stream of streams.slice(1)) expect(stream).to.match(new RegExp(`^${uuid(6)}\\.[0-9a-f]{32}$`));
    expect(subscriptionsId(uuid(7), "acme")).not.to.equal(subscriptionsId(uuid(6), "acme"));
  });
});

describe("the live subscriptions to a sender", () => {
  const live = (event: SubscriptionEvent): Subscriptions => folded(subscriptions, [event]);
  const streams = new Map([
    [subscriptionsId(ids.senderId, "acme"), live(created)],
    [subscriptionsId(ids.senderId, null), live(another(1))],
  ]);
  const read = (id: string) => ({ state: streams.get(id), revision: 0 });
  const found = async (ownerId: string | null) =>
    (await liveSubscriptions(read, ids.senderId, ownerId)).map((some) => some.map(({ id }) => id));

  it("are those of the message's owner, and those without an owner", async () => {
    expect(await found("acme")).to.deep.equal([[uuid(20)], [uuid(101)]]);
    expect(await found("unknown")).to.deep.equal([[], [uuid(101)]]);
    expect(await found(null)).to.deep.equal([[], [uuid(101)]]);
  });

  it("are refused once where the log is away for both streams", async () => {
    const away = () => Promise.reject(new LogUnavailable("away"));
    const refused = await liveSubscriptions(away, ids.senderId, "acme").catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(LogUnavailable);
  });
});
