import { expect } from "chai";
import { SystemIds } from "../../../../src/engines/system/system-ids.ts";
import type { WebhookEvent } from "../../../../src/features/events/facts.ts";
import { EventQueries } from "../../../../src/features/events/queries.ts";
import { loadShown, loadWebhook } from "../../../../src/features/events/webhooks.ts";
import { purges } from "../../../../src/features/purges/facts.ts";
import { streams } from "../../../../src/kernel/domain/streams.ts";
import { Aggregates } from "../../../../src/kernel/log/aggregates.ts";
import { LongReads } from "../../../../src/kernel/log/long-reads.ts";
import { entriesOf } from "../../../../src/kernel/log/origin.ts";
import { noStream, type LogEntry, type ReadOptions } from "../../../../src/kernel/ports/event-store.ts";
import { InMemoryEventStore } from "../../../support/in-memory-event-store.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { pageRequest } from "../../../support/page-request.ts";
import { answer, fail, id, lived, start, stateOf, succeed, t } from "../../../support/webhook-history.ts";
import { whole } from "../../../support/whole-page.ts";

const ids = new SystemIds();
const origin = { actor: { type: "service", part: "test" }, correlationId: "c", causationId: null } as const;
const eventId = id(5);
const tenantId = id(1);
const stream = streams.event(eventId);
const caller = { tenantId, userId: id(2), role: "Owner" } as const;
const exchange = (attempt: number, statusCode: number) => ({
  requestHeaders: { n: `${attempt}` },
  answer: { ...answer(statusCode), headers: { n: `${attempt}` }, body: `${attempt}` },
});

/** An event that failed so often, each time for good, and was replayed; then it succeeded. */
function replayed(times: number): WebhookEvent[] {
  const rounds = Array.from({ length: times }, (_, index) => [
    start(3 * index),
    fail(index + 1, 3 * index + 1, exchange(index + 1, 410)),
    { type: "Replay", at: t(3 * index + 2) } as const,
  ]);
  const last = times + 1;
  return lived(...rounds.flat(), start(3 * times), { ...succeed(last, 3 * times + 1), ...exchange(last, 200) });
}

/** A log that tells how many entries each read of it took. */
class WatchedStore extends InMemoryEventStore {
  readonly reads: number[] = [];
  beforeRead: (options: ReadOptions | undefined) => unknown = () => undefined;

  override async readStream(name: string, options?: ReadOptions): Promise<readonly LogEntry[]> {
    if (name === stream) await this.beforeRead(options);
    const entries = await super.readStream(name, options);
    if (name === stream) this.reads.push(entries.length);
    return entries;
  }
}

/** Parts that reading an event itself does without. */
const absent = {
  shown: null as never, keys: null as never, moments: null as never, readModels: null as never,
  freshness: null as never, messages: null as never,
};

describe("an event with a long history", () => {
  const facts = replayed(30);
  let store: WatchedStore;
  let sources: typeof absent & { readonly store: WatchedStore; readonly aggregates: Aggregates };
  const append = (expected: number, some: readonly WebhookEvent[]) =>
    store.append(stream, expected, entriesOf(some, origin, ids));
  beforeEach(() => {
    store = new WatchedStore();
    const clock = new ManualClock();
    sources = { ...absent, store, aggregates: new Aggregates(store, { clock, ids }, { max: 10 }).register(purges) };
  });

  for (const length of [3, 15, 16, 17, 78, 79, facts.length]) {
    it(`is loaded in small pages, of ${length} facts`, async () => {
      await append(noStream, facts.slice(0, length));
      const loaded = await loadWebhook(store, eventId);
      expect(loaded.state).to.deep.equal(stateOf(facts.slice(0, length)));
      expect(loaded.revision).to.equal(length - 1);
      expect(loaded.facts.map(({ type }) => type)).to.deep.equal(facts.slice(0, length).map(({ type }) => type));
      expect(store.reads.length, "reads").to.equal(length < 16 ? 1 : 2 + Math.floor((length - 16) / 63));
      expect(store.reads[0]).to.be.at.most(16);
      expect(Math.max(...store.reads)).to.be.at.most(64);
    });
  }

  it("is held in memory without requests and answers, and shown with them", async () => {
    await append(noStream, facts);
    const loaded = await loadWebhook(store, eventId);
    for (const { data } of loaded.facts.slice(16)) {
      if (!("answer" in data)) continue;
      expect([data.answer?.body, data.answer?.headers, data.requestHeaders ?? {}]).to.deep.equal(["", {}, {}]);
      expect(data.answer?.statusCode, "a story says it").to.be.oneOf([200, 410]);
    }
    const queries = new EventQueries({ ...sources, ...absent });
    for (const descending of [false, true]) {
      const order = { field: "", descending };
      const inOrder = <Item>(items: readonly Item[]) => (descending ? items.toReversed() : items);
      for (const page of [1, 2, 4]) {
        const request = pageRequest({ quantity: 10, page, order });
        const slice = <Item>(items: readonly Item[]) => inOrder(items).slice(10 * (page - 1), 10 * page);
        const attempts = await whole(await queries.attempts(caller, eventId, request));
        expect(attempts.total).to.equal(31);
        expect(attempts.items.map(({ number, outcome, requestHeaders, responseHeaders, responseBody }) =>
          ({ number, outcome, requestHeaders, responseHeaders, responseBody })))
          .to.deep.equal(slice(Array.from({ length: 31 }, (_, index) => index + 1)).map((number) => ({
            number, outcome: number === 31 ? "succeeded" : "failed",
            requestHeaders: { n: `${number}` }, responseHeaders: { n: `${number}` }, responseBody: `${number}`,
          })));
        const history = await whole(await queries.history(caller, eventId, request));
        expect(history.total).to.equal(facts.length);
        expect(history.items.map(({ data }) => data)).to.deep.equal(slice(facts).map(({ data }) => data));
      }
    }
  });

  it("leaves out the attempts and outcomes that a purge takes while they are read", async () => {
    await append(noStream, facts);
    const queries = new EventQueries({ ...sources, ...absent });
    const request = pageRequest({ quantity: 2, order: { field: "", descending: true } });
    const [attempts, history] =
      [await queries.attempts(caller, eventId, request), await queries.history(caller, eventId, request)];
    await store.deleteStream(stream);
    expect((await whole(attempts)).items).to.deep.equal([]);
    expect((await whole(history)).items.map(({ type }) => type)).to.deep.equal(["DeliveryAttemptStarted"]);
  });

  for (const [what, newer] of [["is gone", []], ["begins again", replayed(2)]] as const) {
    it(`is loaded in its final state, where its stream ${what} while it is read`, async () => {
      await append(noStream, facts);
      store.beforeRead = async (options) => {
        if (options?.from !== 78) return;
        store.beforeRead = () => undefined;
        await store.deleteStream(stream);
        if (newer.length > 0) await append(noStream, newer);
      };
      const { state, facts: found } = await loadWebhook(store, eventId);
      expect(state).to.deep.equal(newer.length > 0 ? stateOf(newer) : undefined);
      expect(found.map(({ type }) => type)).to.deep.equal(newer.map(({ type }) => type));
    });
  }

  it("waits while its tenant reads many, and other tenants and short events do not", async () => {
    await append(noStream, facts);
    const held = Promise.withResolvers<void>();
    const many = Array.from({ length: 64 }, () => LongReads.of(store).run(tenantId, () => held.promise));
    let isShown = false;
    const shown = loadShown(sources, tenantId, eventId).finally(() => (isShown = true));
    expect((await loadShown(sources, id(9), eventId)).state?.status).to.equal("Succeeded");
    const short = id(6);
    const [first] = facts;
    if (first?.type !== "EventAccepted") expect.fail("it was not accepted");
    const accepted = { ...first, data: { ...first.data, eventId: short } };
    await store.append(streams.event(short), noStream, entriesOf([accepted], origin, ids));
    expect((await loadShown(sources, tenantId, short)).state?.status).to.equal("Pending");
    expect(isShown).to.equal(false);
    held.resolve();
    await Promise.all(many);
    expect((await shown).state?.status).to.equal("Succeeded");
  });
});
