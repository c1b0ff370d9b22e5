import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import type { OutboundAnswer, OutboundClient, OutboundFailure } from "../../../src/kernel/ports/outbound.ts";
import { heldBytes } from "../../support/heap.ts";
import { hostilities, type Hostility } from "../../support/hostile-receiver.ts";
import { sized } from "../../support/size.ts";
import { localClient, request } from "./setup.ts";

const deadlineMs = 1000;
const connectMs = 500;
/** The margin for a busy machine; less than `connectMs`, which the deadline includes. */
const busyMs = 450;
/** The handshakes of hundreds at once keep a machine of two cores busy for longer. */
const crowdMs = 2_000;

/** The outcome of each: a status if a head came in time, else the reason of the failure. */
const expected: Readonly<Record<Hostility, number | OutboundFailure["reason"]>> = {
  silent: "timeout",
  "closes without an answer": "connection",
  "resets before the answer": "connection",
  "resets within the head": "connection",
  "resets within the body": 200,
  "ends within the body": 200,
  "drips its status line": "timeout",
  "drips headers": "timeout",
  "drips a good body": 200,
  "drips a bad body": 500,
  "says yes, then nothing": 200,
  "endless body": 200,
  "endless tiny chunks": 200,
  "endless tiny records": 200,
  "endless chunk extension": 200,
  "endless headers": "connection",
  "endless status text": "connection",
  "huge header": "connection",
  "many small headers, then nothing": "timeout",
  "many small headers after an interim answer": "timeout",
  "many small trailers, then nothing": 200,
  "gzip bomb": 200,
  "flood of 100 Continue": "connection",
  "flood of 103 Early Hints": "connection",
  "says 100 Continue unasked, then yes": 200,
  "drip of 102 Processing": "timeout",
  "switches protocols": "connection",
  garbage: "connection",
  "old protocol": 200,
  "a status that is none": "connection",
  "two lengths": 200,
  "says 204, then an empty body": 204,
  "says 304, then an empty body": 304,
  "answers twice": 200,
  "one more handshake, then yes": 200,
  "endless handshakes": "tls",
  "silent handshake": "timeout",
  "plain HTTP": "tls",
  "self-signed": "tls",
  "certified for another host": "tls",
  "unknown authority": "tls",
};

/** With these no connection comes about. */
const unconnected: ReadonlySet<Hostility> = new Set<Hostility>([
  "silent handshake", "plain HTTP", "self-signed", "certified for another host", "unknown authority",
]);

describe("S4 hostile receivers", () => {
  let worker: Worker;
  let ports: Readonly<Record<Hostility, number>>;
  let client: OutboundClient;

  // The receivers have their own thread: their floods must cost this one neither time nor memory.
  before(async () => {
    worker = new Worker(new URL("../../support/hostile-receivers-worker.ts", import.meta.url));
    const [started] = (await once(worker, "message")) as [{ caPem: string; ports: Record<Hostility, number> }];
    ports = started.ports;
    client = localClient(started.caPem, { connectTimeoutMs: connectMs, deliveryTimeoutMs: deadlineMs });
  });
  after(async () => {
    await client.close();
    await worker.terminate();
  });

  async function call(hostility: Hostility): Promise<{ outcome: OutboundAnswer | OutboundFailure; tookMs: number }> {
    const startedAt = performance.now();
    const outcome = await client.post(request(`https://127.0.0.1:${ports[hostility]}/`));
    return { outcome, tookMs: performance.now() - startedAt };
  }

  for (const hostility of hostilities) {
    it(`end in time and under the right name: ${hostility}`, async function () {
      this.timeout(60_000);
      for (let wave = 0; wave < sized(1, 10); wave += 1) {
        const calls = await Promise.all(Array.from({ length: sized(4, 20) }, () => call(hostility)));
        for (const { outcome, tookMs } of calls) {
          expect(tookMs).to.be.below(deadlineMs + busyMs);
          expect(outcome.answered ? outcome.statusCode : outcome.reason).to.equal(expected[hostility]);
          if (outcome.answered) {
            expect(outcome.body.length).to.be.at.most(16_384);
          } else {
            // In words, without a library's error code.
            expect(outcome.error).to.match(/^[ -'*-~]{5,80}$/);
            expect(outcome.connected).to.equal(!unconnected.has(hostility));
          }
        }
      }
    });
  }

  const bodies = ["says 204, then an empty body", "says 304, then an empty body"] as const;
  for (const hostility of ["answers twice", ...bodies] as const) {
    it(`keep the answer to one request out of the next one's: ${hostility}`, async () => {
      for (let count = 0; count < 5; count += 1) {
        const { outcome } = await call(hostility);
        expect(outcome).to.include({ statusCode: expected[hostility] });
      }
    });
  }

  it("cost little memory, a thousand at once", async function () {
    this.timeout(60_000);
    const all = (each: number) =>
      Promise.all(hostilities.flatMap((kind) => Array.from({ length: each }, () => call(kind))));
    await all(1);
    const before = heldBytes();
    const underWay = all(Math.ceil(sized(320, 1000) / hostilities.length));
    const looks: number[] = [];
    const look = setInterval(() => looks.push(heldBytes() - before), 200);
    const calls = await underWay;
    clearInterval(look);
    expect(Math.max(...calls.map(({ tookMs }) => tookMs))).to.be.below(connectMs + deadlineMs + crowdMs);
    expect(looks).to.not.be.empty;
    expect(Math.max(...looks)).to.be.below(50_000_000);
  });
});
