import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { hostilities, type Hostility } from "../support/hostile-receiver.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventually, openAccount, type Account } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { inspected, memoryInUse } from "../support/relay-process-heap.ts";
import { sized } from "../support/size.ts";

const deadlineMs = 1_000;
const connectMs = 500;
/** Delay allowed to a busy machine; less than the time for connecting, which the deadline includes. */
const busyMs = 450;
/** Concurrent attempts at each kind of receiver: at full size about a thousand in all. */
const each = sized(10, 30);
const total = each * hostilities.length;

describe("S4 hostile receivers, to a running relay", () => {
  let worker: Worker;
  let ports: Readonly<Record<Hostility, number>>;
  let good: Receiver;
  let relay: RelayProcess;
  let account: Account;
  before(async () => {
    good = await startReceiver();
    worker = new Worker(new URL("../support/hostile-receivers-worker.ts", import.meta.url));
    const [started] = (await once(worker, "message")) as [{ caPem: string; ports: Record<Hostility, number> }];
    ports = started.ports;
    relay = await RelayProcess.start({ caPem: started.caPem + good.caPem }, {
      nodeFlags: inspected,
      env: {
        RELAY_DELIVERY_TIMEOUT: `${deadlineMs}ms`, RELAY_CONNECT_TIMEOUT: `${connectMs}ms`,
        RELAY_RETRY_SCHEDULE: "1h",
      },
    });
    account = await openAccount(relay.url, { maxTrys: 10_000 });
  });
  after(async () => {
    await relay.close();
    await worker.terminate();
    await good.close();
  });

  const totalOf = async (query: string) => Number((await account.owner.get(`/api/v1/events?Qt=1${query}`))["total"]);
  /** The number of events without an ended attempt. Ended ones are counted first: their number only grows. */
  const waiting = async () => {
    const ended = await Promise.all(["Succeeded", "WaitingRetry"].map((status) => totalOf(`&Status=${status}`)));
    return (await totalOf("")) - ended.reduce((sum, count) => sum + count, 0);
  };
  /** Starts that many attempts at every kind at once. Returns the events' ids. */
  const flood = async (count: number): Promise<string[]> => {
    const ids: string[] = [];
    const destinations: string[] = [];
    for (const hostility of hostilities) {
      const url = `https://127.0.0.1:${ports[hostility]}/`;
      const { id, ingest } = await account.destination({ url, serverRateLimit: count });
      const posted = Array.from({ length: count }, () => account.producer.post(ingest, { hostility }));
      // Accepted events are held until the destination is active again.
      const held = account.owner.patch(`/api/v1/destinations/${id}`, { status: "inactive" });
      const accepted = await Promise.allSettled([...posted, held]);
      for (const one of accepted) {
        if (one.status === "fulfilled" && "eventId" in one.value) ids.push(String(one.value["eventId"]));
      }
      destinations.push(id);
    }
    const active = { status: "active" };
    await Promise.all(destinations.map((id) => account.owner.patch(`/api/v1/destinations/${id}`, active)));
    return ids;
  };

  it("cannot extend an attempt beyond its deadline, use up memory, or delay other deliveries", async function () {
    this.timeout(sized(120_000, 600_000));
    const { ingest } = await account.destination({ url: good.url("/good") });
    await flood(1);
    await eventually(waiting, (left) => left === 0, 30_000);
    const before = await memoryInUse(relay);
    const ids = await flood(each);
    expect(ids.length).to.be.greaterThan(total * 0.5);
    let most = 0;
    for (let left = total; left > 0; left = await waiting()) {
      const seen = good.received;
      const startedAt = performance.now();
      await account.producer.post(ingest, { left });
      await good.waitFor(({ received }) => received > seen, 3_000);
      expect(performance.now() - startedAt).to.be.below(3_000);
      most = Math.max(most, (await memoryInUse(relay)) - before);
    }
    expect(most).to.be.below(50_000_000);
    const durations = await Promise.all(ids.map(async (id) => {
      const { items } = await account.owner.get(`/api/v1/events/${id}/attempts`);
      return (items as { durationMs: number }[]).map(({ durationMs }) => durationMs);
    }));
    expect(durations.every((attempts) => attempts.length > 0)).to.equal(true);
    expect(Math.max(...durations.flat())).to.be.below(deadlineMs + busyMs);
  });
});
