import { Pool } from "undici";
import { serve } from "../support/child.ts";
import { machineNow } from "../support/clock.ts";
import { bodyTemplate, stamp } from "../support/payload.ts";

interface RawBase {
  readonly firstSeq: number;
}

/** What a raw undici pool did. */
export interface RawResult {
  readonly sent: number;
  /** Answered with 200, the body read. */
  readonly accepted: number;
  readonly rate: number;
}

export type RawClientApi = {
  connect(to: { readonly origin: string; readonly caPem: string; readonly connections: number }): void;
  /** `concurrency` requests at a time until `events` are sent. */
  closed(load: RawBase & { readonly events: number; readonly concurrency: number }): Promise<RawResult>;
  /** At its own pace. Plain timers, since this process's CPU time is what is measured. */
  open(load: RawBase & { readonly events: number; readonly ratePerSecond: number }): Promise<RawResult>;
};

let pool: Pool | undefined;
const headers = { "content-type": "application/json" };
const template = bodyTemplate();

async function post(seq: number, due: number): Promise<boolean> {
  if (!pool) throw new Error("connect first");
  const body = Buffer.from(template);
  stamp(body, 0, seq, due);
  const answer = await pool.request({ path: "/fast", method: "POST", headers, body });
  await answer.body.arrayBuffer();
  return answer.statusCode === 200;
}

const api: RawClientApi = {
  connect({ origin, caPem, connections }) {
    pool = new Pool(origin, { connections, connect: { ca: caPem } });
  },

  async closed({ firstSeq, events, concurrency }) {
    const start = machineNow();
    let sent = 0;
    let accepted = 0;
    const lane = async () => {
      while (sent < events) {
        if (await post(firstSeq + sent++, machineNow())) accepted += 1;
      }
    };
    await Promise.all(Array.from({ length: concurrency }, lane));
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
