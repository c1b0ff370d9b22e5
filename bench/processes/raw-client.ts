import { createHmac, createSecretKey, randomUUID } from "node:crypto";
import { Pool, type Dispatcher } from "undici";
import { serve } from "../support/child.ts";
import { machineNow } from "../support/clock.ts";
import { LeastLog, type LeastFact } from "../support/least-log.ts";
import { bodyTemplate, stamp } from "../support/payload.ts";

interface RawBase {
  readonly firstSeq: number;
}

/** The result of a load on a raw undici pool. */
export interface RawResult {
  readonly sent: number;
  /** Answered with 200, the body read. */
  readonly accepted: number;
  readonly rate: number;
}

export type RawClientApi = {
  /** `keeping`: each request is claimed and signed, and claim and outcome are kept, the claim before it is sent. */
  connect(to: {
    readonly origin: string; readonly caPem: string; readonly connections: number; readonly keeping: boolean;
  }): void;
  /** `concurrency` requests at a time until `events` are sent. */
  closed(load: RawBase & { readonly events: number; readonly concurrency: number }): Promise<RawResult>;
  /** At a fixed rate. Plain timers, since this process's CPU time is measured. */
  open(load: RawBase & { readonly events: number; readonly ratePerSecond: number }): Promise<RawResult>;
};

let pool: Pool | undefined;
let log: LeastLog | undefined;
const contentType = { "content-type": "application/json" };
const template = bodyTemplate();
const key = createSecretKey("the secret of a tenant", "utf8");

async function post(seq: number, due: number): Promise<boolean> {
  const body = Buffer.from(template);
  stamp(body, 0, seq, due);
  if (log) return deliver(log, body);
  const answer = await send(contentType, body);
  await answer.body.arrayBuffer();
  return answer.statusCode === 200;
}

/** The answer, its body still to be read. */
function send(headers: Record<string, string>, body: Buffer): Promise<Dispatcher.ResponseData> {
  if (!pool) throw new Error("connect first");
  return pool.request({ path: "/fast", method: "POST", headers, body });
}

/** The least record of a delivery: its start, written before it; the request that was sent; its outcome. */
async function deliver(log: LeastLog, body: Buffer): Promise<boolean> {
  const eventId = randomUUID();
  const correlationId = randomUUID();
  const factOf = (type: string, what: object): LeastFact => {
    const at = new Date().toISOString();
    const data = { eventId, destinationId: "a destination", attempt: 1, ...what, at };
    return { id: randomUUID(), type, data, metadata: { actor: "delivery", correlationId, time: at } };
  };
  await log.append(factOf("DeliveryAttemptStarted", { url: "https://receiver.example/hooks", destinationRevision: 1 }));
  const seconds = Math.floor(Date.now() / 1000).toString();
  const standard = createHmac("sha256", key).update(`${eventId}.${seconds}.`).update(body).digest("base64");
  const headers = {
    ...contentType,
    "x-service-signature": `sha256=${createHmac("sha256", key).update(body).digest("hex")}`,
    "webhook-id": eventId,
    "webhook-timestamp": seconds,
    "webhook-signature": `v1,${standard}`,
  };
  const { statusCode, headers: answered, body: text } = await send(headers, body);
  const answer = { statusCode, headers: answered, body: await text.text() };
  await log.append(factOf("DeliverySucceeded", { headers, answer }));
  return statusCode === 200;
}

const api: RawClientApi = {
  connect({ origin, caPem, connections, keeping }) {
    pool = new Pool(origin, { connections, connect: { ca: caPem } });
    if (keeping) log = new LeastLog();
  },

  async closed({ firstSeq, events, concurrency }) {
    const start = machineNow();
    let sent = 0;
    let accepted = 0;
    const dispatcher = async () => {
      while (sent < events) {
        if (await post(firstSeq + sent++, machineNow())) accepted += 1;
      }
    };
    await Promise.all(Array.from({ length: concurrency }, dispatcher));
    await log?.listed();
    return { sent, accepted, rate: (accepted / (machineNow() - start)) * 1000 };
  },

  async open({ firstSeq, events, ratePerSecond }) {
    const start = machineNow();
    const gap = 1000 / ratePerSecond;
    let sent = 0;
    let accepted = 0;
    const underWay: Promise<void>[] = [];
    await new Promise<void>((resolve) => {
      const tick = () => {
        for (; sent < events && start + sent * gap <= machineNow(); sent += 1) {
          underWay.push(post(firstSeq + sent, start + sent * gap).then((ok) => void (accepted += ok ? 1 : 0)));
        }
        if (sent < events) setTimeout(tick, 1);
        else resolve();
      };
      tick();
    });
    await Promise.all(underWay);
    return { sent, accepted, rate: (accepted / (machineNow() - start)) * 1000 };
  },
};

serve(api);
