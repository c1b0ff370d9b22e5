import { expect } from "chai";
import { workOf } from "../../../../src/delivery/dispatch/forwarder.ts";
import type { SendOutcome } from "../../../../src/delivery/requests/outcome.ts";
import { circuits } from "../../../../src/features/circuits/facts.ts";
import { destinations } from "../../../../src/features/destinations/facts.ts";
import { loadWebhook } from "../../../../src/features/events/webhooks.ts";
import { withDeliveries } from "../../../../src/features/messages/facts.ts";
import { streams } from "../../../../src/kernel/domain/streams.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import { EntryTooLarge, LogUnavailable, logStart, RevisionConflict } from "../../../../src/kernel/ports/event-store.ts";
import { createTenant, openIngest } from "../../../support/accounts.ts";
import { attemptEnded } from "../../../support/circuits.ts";
import { http } from "../../../support/http.ts";
import { ManualRelay } from "../../../support/manual-relay.ts";
import { refusal, success } from "../../../support/outcomes.ts";
import { eventually } from "../../../support/relay.ts";
import { isHeld, stage, until, workerOf, type Stage } from "../../../support/staged-worker.ts";

/** An event of the same destination. */
const another = "0193a1b2-0000-7000-8000-00000000ffff";

describe("a delivery worker", () => {
  let relay: ManualRelay;

  beforeEach(async () => {
    relay = await ManualRelay.open();
  });
  afterEach(() => relay.close());

  it("has stopped once the outcomes of its attempts are recorded, and not before", async () => {
    const { owner, tenantId } = await createTenant(relay.api.url);
    const { path, apiKey, destinationId } = await openIngest(owner.client, tenantId);
    const sent = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<SendOutcome>();
    const { worker, session } = workerOf(relay, () => (sent.resolve(), answered.promise));
    await worker.start();
    const headers = { "x-api-key": apiKey };
    const eventId = String((await http("POST", relay.api.url + path, { json: {}, headers })).json["eventId"]);
    await relay.drained();
    worker.take([{ kind: "wake", destinationId, position: "" }], session);
    await sent.promise;

    const written = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    relay.store.beforeAppend = (stream) => {
      if (stream !== streams.event(eventId)) return undefined;
      reached.resolve();
      return written.promise;
    };
    let stopped = false;
    const stopping = worker.stop(60_000).then(() => (stopped = true));
    answered.resolve(success);
    await reached.promise;
    await new Promise(setImmediate);
    expect(stopped).to.equal(false);
    written.resolve();
    await stopping;
    expect((await loadWebhook(relay.store, eventId)).state?.status).to.equal("Succeeded");
  });

  for (const [title, hold] of [
    ["was Inactive", ({ patch }) => patch({ status: "inactive" })],
    ["was Suspended", ({ tell }) => tell(attemptEnded(another, false))],
  ] as const satisfies [string, (stage: Stage) => Promise<unknown>][]) {
    it(`sends held events before newer ones after its destination ${title}`, async () => {
      const staged = await stage(relay);
      const { destinationId, aggregates, sent, take, post, patch } = staged;
      const wake = { kind: "wake", destinationId, position: "" } as const;
      const ids = [await post()];
      take(wake);
      await until(() => sent.length === 1);
      ids.push(await post());
      await hold(staged);
      await until(() => isHeld(aggregates, destinationId));
      take(wake);
      await patch({ status: "active", serverRateLimit: 2 });
      await until(() => aggregates.peek(destinations, destinationId)?.state?.serverRateLimit === 2);
      // A slot is free, but another event waits.
      ids.push(await post());
      expect(sent).to.have.length(1);
      expect(await staged.answered(3)).to.deep.equal(ids);
      await staged.worker.stop(60_000);
    });
  }

  it("sends no more payloads to a destination than the payload budget allows", async () => {
    const staged = await stage(relay, { sendingCharacters: 2 * "{}".length });
    const { destinationId, aggregates, sent, take, post, patch } = staged;
    const wake = { kind: "wake", destinationId, position: "" } as const;
    await patch({ serverRateLimit: 3 });
    const ids = [await post()];
    take(wake);
    await until(() => sent.length === 1);
    await until(() => aggregates.peek(destinations, destinationId)?.state?.serverRateLimit === 3);
    ids.push(await post(), await post());
    expect(sent).to.have.length(1);
    take(wake);
    expect(await staged.answered(3)).to.deep.equal(ids);
    await staged.worker.stop(60_000);
  });

  it("frees the slot of an attempt whose event has become unreadable", async () => {
    const staged = await stage(relay);
    const { sent, take, post, destinationId } = staged;
    const wake = { kind: "wake", destinationId, position: "" } as const;
    const spoiled = await post();
    take(wake);
    await until(() => sent.length === 1);
    const readStream = relay.store.readStream.bind(relay.store);
    relay.store.readStream = async (stream, options) => {
      const entries = await readStream(stream, options);
      if (stream !== streams.event(spoiled)) return entries;
      return entries.map((entry) => ({ ...entry, unreadable: "spoiled", newer: false }));
    };
    relay.store.beforeAppend = (stream, entries) => {
      if (stream === streams.event(spoiled)) throw new RevisionConflict(stream, 1, 1 + entries.length);
    };
    const next = await post();
    take(wake);
    sent[0]?.answer();
    for (let turn = 0; sent.length < 2 && turn < 1_000; turn += 1) await new Promise(setImmediate);
    expect(sent.map(({ eventId }) => eventId)).to.deep.equal([spoiled, next]);
    sent[1]?.answer();
    await staged.worker.stop(60_000);
  });

  it("probes a half-open circuit with the oldest event, even when it hears of another first", async () => {
    const staged = await stage(relay);
    await staged.tell(attemptEnded(another, false));
    relay.clock.advance(301_000);
    await staged.tell({ type: "HalfOpen", lost: null });
    const ids = [await staged.post(), await staged.post()];
    const { entries } = await relay.store.readLog(logStart, 1_000);
    const items = entries.flatMap((entry) => (entry.unreadable === undefined ? workOf(entry) : []));
    staged.take(...items.filter(({ kind }) => kind === "first").toReversed());
    expect(await staged.answered(2)).to.deep.equal(ids);
    await staged.worker.stop(60_000);
  });

  it("claims no first attempt while a half-open circuit is probed with another event", async () => {
    const staged = await stage(relay);
    const { aggregates, destinationId, sent, take, tell } = staged;
    await staged.patch({ serverRateLimit: 2 });
    const ids = [await staged.post()];
    take({ kind: "wake", destinationId, position: "" });
    await staged.answered(1);
    await eventually(() => loadWebhook(relay.store, ids[0]!), ({ state }) => state?.status === "Succeeded");
    await tell(attemptEnded(another, false));
    await until(() => isHeld(aggregates, destinationId));
    relay.clock.advance(301_000);
    await tell({ type: "HalfOpen", lost: null });
    await until(() => !isHeld(aggregates, destinationId));
    ids.push(await staged.post());
    expect(await staged.begun(ids[1]!)).to.deep.equal(["EventAccepted"]);
    expect(sent).to.have.length(1);
    await staged.worker.stop(60_000);
  });

  it("makes a first attempt later if its claim and its large event do not fit into one append", async () => {
    const staged = await stage(relay);
    const wake = { kind: "wake", destinationId: staged.destinationId, position: "" } as const;
    const ids = [await staged.post()];
    staged.take(wake);
    await staged.answered(1);
    await eventually(() => loadWebhook(relay.store, ids[0]!), ({ state }) => state?.status === "Succeeded");
    let refused = 0;
    relay.store.beforeAppend = (_stream, entries) => {
      if (entries[0]?.event.type !== "EventAccepted" || entries.length === 1) return;
      refused += 1;
      throw new EntryTooLarge("too large");
    };
    ids.push(await staged.post());
    expect(refused).to.equal(1);
    staged.take(wake);
    expect(await staged.answered(2)).to.deep.equal(ids);
    await staged.worker.stop(60_000);
  });

  it("claims no first attempt before an older one whose claim failed", async () => {
    const staged = await stage(relay);
    const { clock, sent, post } = staged;
    const wake = { kind: "wake", destinationId: staged.destinationId, position: "" } as const;
    const ids = [await post()];
    staged.take(wake);
    await until(() => sent.length === 1);
    ids.push(await post());
    staged.take(wake);
    relay.store.beforeAppend = (stream) => {
      if (stream === streams.event(ids[1]!)) throw new LogUnavailable("away");
    };
    sent[0]?.answer();
    await until(() => clock.pending.includes(1_000));
    relay.store.beforeAppend = () => undefined;
    ids.push(await post());
    expect(await staged.begun(ids[2]!)).to.deep.equal(["EventAccepted"]);
    // Two looks for the claim, and the pause after them.
    for (let waits = 0; waits < 3; waits += 1) {
      await until(() => clock.pending.includes(1_000));
      clock.advance(1_000);
    }
    expect(await staged.answered(3)).to.deep.equal(ids);
    await staged.worker.stop(60_000);
  });

  it("evicts a destination after half a minute without work, and serves it again later", async () => {
    const staged = await stage(relay);
    const { destinationId, take, clock } = staged;
    const ids = [await staged.post()];
    take({ kind: "wake", destinationId, position: "" });
    await staged.answered(1);
    await eventually(() => loadWebhook(relay.store, ids[0]!), ({ state }) => state?.status === "Succeeded");
    clock.advance(29_000);
    ids.push(await staged.post());
    expect(await staged.begun(ids[1]!), "still known").to.deep.equal(["EventAccepted", "DeliveryAttemptStarted"]);
    await staged.answered(2);
    await eventually(() => loadWebhook(relay.store, ids[1]!), ({ state }) => state?.status === "Succeeded");
    clock.advance(29_000);
    ids.push(await staged.post());
    expect(await staged.begun(ids[2]!), "worked since").to.deep.equal(["EventAccepted", "DeliveryAttemptStarted"]);
    await staged.answered(3);
    await eventually(() => loadWebhook(relay.store, ids[2]!), ({ state }) => state?.status === "Succeeded");
    clock.advance(35_000);
    ids.push(await staged.post());
    expect(await staged.begun(ids[3]!)).to.deep.equal(["EventAccepted"]);
    take({ kind: "wake", destinationId, position: "" });
    expect(await staged.answered(4)).to.deep.equal(ids);
    await staged.worker.stop(60_000);
  });

  it("skips due events that the log does not hold when it looks for a probe", async () => {
    const staged = await stage(relay);
    await staged.tell(attemptEnded(another, false));
    relay.clock.advance(301_000);
    await staged.tell({ type: "HalfOpen", lost: null });
    const ids = [await staged.post(), await staged.post()];
    await relay.store.deleteStream(streams.event(ids[0]!));
    staged.take({ kind: "wake", destinationId: staged.destinationId, position: "" });
    expect(await staged.answered(1)).to.deep.equal([ids[1]]);
    await staged.worker.stop(60_000);
  });

  it("releases a half-open circuit's probe after the probe's lease, though no event waits", async () => {
    const { destinationId, aggregates, clock, take, tell, worker } = await stage(relay);
    const standing = () => aggregates.peek(circuits, destinationId)?.state?.probe;
    const claim = () => ({ eventId: another, leaseUntil: timestamp(relay.clock.now()) });
    const woken = () => take({ kind: "wake", destinationId, position: "" });
    const wokenFor = async (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) {
        woken();
        for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
        clock.advance(1_000);
      }
    };
    await tell(attemptEnded(another, false));
    relay.clock.advance(301_000);
    const first = claim();
    await tell({ type: "HalfOpen", lost: null }, { type: "ClaimProbe", ...first, lost: null });
    woken();
    await until(() => standing()?.leaseUntil === first.leaseUntil);
    await wokenFor(18);
    expect(standing()).to.deep.equal(first);
    relay.clock.advance(18_000);
    const second = claim();
    await tell({ type: "ReleaseProbe", probe: first }, { type: "ClaimProbe", ...second, lost: null });
    await until(() => standing()?.leaseUntil === second.leaseUntil);
    await wokenFor(18);
    expect(standing()).to.deep.equal(second);
    clock.advance(2_000);
    woken();
    await until(() => standing() === null);
    await worker.stop(60_000);
  });

  it("cancels an event whose failure was being recorded while its destination was deleted", async () => {
    const { owner, tenantId } = await createTenant(relay.api.url);
    const { path, apiKey, destinationId } = await openIngest(owner.client, tenantId);
    const { worker, session, aggregates } = workerOf(relay, async () => refusal);
    await worker.start();
    const wake = { kind: "wake", destinationId, position: "" } as const;
    const headers = { "x-api-key": apiKey };
    const eventId = String((await http("POST", relay.api.url + path, { json: {}, headers })).json["eventId"]);
    await relay.drained();
    const [counting, counted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    relay.store.beforeAppend = (stream) => {
      if (stream !== streams.circuit(destinationId)) return undefined;
      counting.resolve();
      return counted.promise;
    };
    worker.take([wake], session);
    await counting.promise;
    await owner.client.delete(`/api/v1/destinations/${destinationId}`);
    await until(() => aggregates.peek(destinations, destinationId)?.state?.deleted === true);
    await relay.drained();
    const find = relay.models.find.bind(relay.models);
    let looks = 0;
    relay.models.find = async (query) => find(query).finally(() => (looks += 1));
    worker.take([wake], session);
    await until(() => looks > 0);
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
    counted.resolve();
    const status = async () => (await loadWebhook(relay.store, eventId)).state?.status;
    await eventually(status, (now) => now === "Cancelled", 5_000);
    await worker.stop(60_000);
  });

  it("claims nothing after its membership has ended, even while it reads the event", async () => {
    const staged = await stage(relay);
    const id = await staged.post();
    const wake = { kind: "wake", destinationId: staged.destinationId, position: "" } as const;
    const readStream = relay.store.readStream.bind(relay.store);
    const read = Promise.withResolvers<void>();
    relay.store.readStream = async (stream, extent) => {
      if (stream === streams.event(id)) {
        staged.session.alive = false;
        read.resolve();
      }
      return readStream(stream, extent);
    };
    staged.take(wake);
    await read.promise;
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
    relay.store.readStream = readStream;
    expect((await loadWebhook(relay.store, id)).state?.status).to.equal("Pending");
    staged.session.alive = true;
    staged.take(wake);
    expect(await staged.answered(1)).to.deep.equal([id]);
    await staged.worker.stop(60_000);
  });

  for (const [title, trouble] of [
    ["at once", false],
    ["after a pause, if the log is unavailable,", true],
  ] as const) it(`goes on ${title} when a wake-up comes before the fact that caused it`, async () => {
    const staged = await stage(relay);
    const { destinationId, aggregates, sent, take, post, patch, clock } = staged;
    const wake = { kind: "wake", destinationId } as const;
    const ids = [await post()];
    take({ ...wake, position: "" });
    await until(() => sent.length === 1);
    ids.push(await post());
    await patch({ status: "inactive" });
    await until(() => isHeld(aggregates, destinationId));
    await staged.answered(1);
    await eventually(() => loadWebhook(relay.store, ids[0]!), ({ state }) => state?.status === "Succeeded");
    await staged.feed.stop();
    await patch({ status: "active" });
    await relay.drained();
    const position = await relay.store.head();
    if (trouble) {
      const readStream = relay.store.readStream.bind(relay.store);
      relay.store.readStream = () => Promise.reject(new LogUnavailable("away"));
      take({ ...wake, position });
      await until(() => clock.pending.includes(1_000));
      relay.store.readStream = readStream;
      clock.advance(1_000);
    } else take({ ...wake, position });
    expect(await staged.answered(2)).to.deep.equal(ids);
    await staged.worker.stop(60_000);
  });

  it("makes a first attempt later if a purged event of the key had to be deleted first", async () => {
    const staged = await stage(relay);
    const wake = { kind: "wake", destinationId: staged.destinationId, position: "" } as const;
    const ids = [await staged.post("key")];
    staged.take(wake);
    await staged.answered(1);
    await eventually(() => loadWebhook(relay.store, ids[0]!), ({ state }) => state?.status === "Succeeded");
    ids.push(await staged.post());
    expect((await staged.answered(2))[1], "claimed by its acceptance").to.equal(ids[1]);
    await eventually(() => loadWebhook(relay.store, ids[1]!), ({ state }) => state?.status === "Succeeded");
    await relay.drained();
    await staged.purge();
    ids.push(await staged.post("key"));
    expect((await loadWebhook(relay.store, ids[2]!)).facts.map(({ type }) => type)).to.deep.equal(["EventAccepted"]);
    staged.take(wake);
    expect(await staged.answered(3)).to.deep.equal(ids);
    await staged.worker.stop(60_000);
  });

  it("claims nothing for an item that comes after its delivery was purged", async () => {
    const staged = await stage(relay);
    const ids = [await staged.postMessage(), await staged.post()];
    const { entries } = await relay.store.readLog(logStart, 1_000);
    const [first, second] = withDeliveries(entries)
      .flatMap((entry) => (entry.unreadable === undefined ? workOf(entry) : []))
      .filter(({ kind }) => kind === "first");
    staged.take(first!);
    await staged.answered(1);
    await eventually(() => loadWebhook(relay.store, ids[0]!), ({ state }) => state?.status === "Succeeded");
    await relay.drained();
    await staged.purge();
    await relay.settle();
    staged.take(first!, second!);
    expect(await staged.answered(2)).to.deep.equal(ids);
    expect((await loadWebhook(relay.store, ids[0]!)).facts).to.deep.equal([]);
    await staged.worker.stop(60_000);
  });

  it("delivers new events while the due index is behind, once no earlier attempt can be open", async () => {
    const staged = await stage(relay);
    let asked = 0;
    relay.models.caughtUp = async () => {
      asked += 1;
      return false;
    };
    const ids = [await staged.post(), await staged.post()];
    const { entries } = await relay.store.readLog(logStart, 1_000);
    const [first, second] = entries.flatMap((entry) => (entry.unreadable === undefined ? workOf(entry) : []))
      .filter(({ kind }) => kind === "first");
    staged.take(first!);
    const isSentIn = async (ms: number) => {
      staged.clock.advance(ms);
      await new Promise(setImmediate);
      return staged.sent.length > 0;
    };
    for (let seconds = 0; seconds < 19; seconds += 1) expect(await isSentIn(1_000)).to.equal(false);
    asked = 0;
    while (!(await isSentIn(1_000)));
    // The next look in the due index fails, and does not delay queued events.
    await until(() => asked > 0);
    staged.take(second!);
    expect(await staged.answered(2)).to.deep.equal(ids);
    await staged.worker.stop(60_000);
  });
});
