import { request } from "node:http";
import { serve } from "../support/child.ts";
import { percentilesOf, type Percentiles } from "../support/statistics.ts";

/** The frames that the clients got since the last look. */
export interface Followed {
  readonly frames: number;
  /** From the time of the log entry to the client, ms, whole ones. */
  readonly delayMs: Percentiles;
  readonly p95Ms: number;
}

export type FollowersApi = {
  /** Opens a stream for each token, and resolves when all have begun. */
  follow(of: { readonly url: string; readonly tokens: readonly string[] }): Promise<number>;
  followed(_: null): Followed;
  /** Closes all streams. */
  leave(_: null): number;
};

const streams = new Set<ReturnType<typeof request>>();
const entryTime = /"at":"([^"]+)"/g;
let delays: number[] = [];

function open(url: string, token: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = request(`${url}/api/v1/stream?Kinds=event`, {
      agent: false, headers: { authorization: `Bearer ${token}` },
    });
    streams.add(stream);
    stream.on("error", (error) => (streams.has(stream) ? reject(error) : undefined));
    stream.once("response", (answer) => {
      if (answer.statusCode !== 200) return reject(new Error(`a stream was answered ${answer.statusCode}`));
      answer.setEncoding("latin1").on("data", (text: string) => {
        const now = Date.now();
        for (const [, at = ""] of text.matchAll(entryTime)) delays.push(now - Date.parse(at));
      });
      resolve();
    });
    stream.end();
  });
}

const api: FollowersApi = {
  async follow({ url, tokens }) {
    for (const token of tokens) await open(url, token);
    return streams.size;
  },
  followed() {
    const taken = Float64Array.from(delays);
    delays = [];
    const delayMs = percentilesOf(taken);
    return { frames: taken.length, delayMs, p95Ms: taken[Math.ceil(taken.length * 0.95) - 1] ?? NaN };
  },
  leave() {
    const closing = [...streams];
    streams.clear();
    for (const stream of closing) stream.destroy();
    return closing.length;
  },
};

serve(api);
