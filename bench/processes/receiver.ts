import type { AddressInfo } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { makeAuthority } from "../../test/support/tls.ts";
import { serve } from "../support/child.ts";
import { machineNow } from "../support/clock.ts";
import { bodyBytes, readStamp } from "../support/payload.ts";
import { percentilesOf, type Percentiles } from "../support/statistics.ts";

/** Events a run of the receiver can tell apart. */
const capacity = 8_000_000;

/** The deliveries of a range of event numbers. */
export interface Arrivals {
  /** Different events answered. */
  readonly delivered: number;
  /** Requests beyond the first for an event. */
  readonly repeated: number;
  /** From due to the first byte of the first request for it, ms. */
  readonly latency: Percentiles;
}

export type ReceiverApi = {
  /** Opens this many ports, each an origin of its own; answers them with the authority to trust. */
  listen(ports: number): Promise<{ readonly ports: readonly number[]; readonly caPem: string }>;
  /** Paths under `/gate` are answered while it is open; waiting requests are answered when it opens. */
  gate(open: boolean): void;
  /** Different events answered so far. */
  delivered(input: null): number;
  arrivals(range: { readonly from: number; readonly to: number }): Arrivals;
};

const answer = Buffer.from("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok");
const counts = new Uint8Array(capacity);
const latencies = new Float32Array(capacity);
const held: (() => void)[] = [];
let gateOpen = true;
let delivered = 0;

function arrived(socket: TLSSocket, path: string, seq: number, due: number, at: number): void {
  if (path.startsWith("/silent")) return;
  const reply = () => {
    const count = counts[seq] ?? 0;
    if (count === 0) {
      delivered += 1;
      latencies[seq] = at - due;
    }
    if (count < 255) counts[seq] = count + 1;
    socket.write(answer);
  };
  if (gateOpen || !path.startsWith("/gate")) reply();
  else held.push(reply);
}

/** Paths of the receivers of one event end in their place among them: its numbers follow each other. */
function placeOf(path: string): number {
  const at = path.lastIndexOf("/");
  return at > 0 ? Number(path.slice(at + 1)) : 0;
}

/** Reads requests off a connection: as little HTTP as the relay's own requests need, so that it costs little. */
function accept(socket: TLSSocket): void {
  let buffered: Buffer | undefined;
  let firstByteAt = 0;
  socket.setNoDelay(true);
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    if (!buffered) firstByteAt = machineNow();
    let rest = buffered ? Buffer.concat([buffered, chunk]) : chunk;
    buffered = undefined;
    while (rest.length > 0) {
      const bodyAt = rest.indexOf("\r\n\r\n") + 4;
      if (bodyAt < 4 || rest.length < bodyAt + bodyBytes) {
        buffered = rest;
        return;
      }
      const { seq, due } = readStamp(rest, bodyAt);
      const path = rest.toString("latin1", "POST ".length, rest.indexOf(32, "POST ".length));
      arrived(socket, path, seq + placeOf(path), due, firstByteAt);
      rest = rest.subarray(bodyAt + bodyBytes);
      firstByteAt = machineNow();
    }
  });
}

const api: ReceiverApi = {
  async listen(ports) {
    const authority = makeAuthority();
    const identity = authority.issue();
    const listening = Array.from({ length: ports }, () => {
      const server = createServer(identity, accept).on("tlsClientError", () => {});
      return new Promise<number>((resolve) => {
        server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
      });
    });
    return { ports: await Promise.all(listening), caPem: authority.caPem };
  },

  gate(open) {
    gateOpen = open;
    if (open) for (const reply of held.splice(0)) reply();
  },

  delivered: () => delivered,

  arrivals({ from, to }) {
    let repeated = 0;
    const sample: number[] = [];
    for (let seq = from; seq < to; seq += 1) {
      const count = counts[seq] ?? 0;
      if (count === 0) continue;
      repeated += count - 1;
      sample.push(latencies[seq] ?? NaN);
    }
    return { delivered: sample.length, repeated, latency: percentilesOf(Float64Array.from(sample)) };
  },
};

serve(api);
