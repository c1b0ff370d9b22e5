import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { serve } from "../support/child.ts";
import { emitOpenLoop, machineNow } from "../support/clock.ts";
import { requestTemplate, writeRequest, type RequestTemplate } from "../support/payload.ts";
import { percentilesOf, type Percentiles } from "../support/statistics.ts";

/** Where one producer posts. */
export interface Target {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly apiKey: string;
  /** The number of owners, one of which each event names; none where left out. */
  readonly owners?: number;
}

interface LoadBase {
  /** Events go to them in turn. All on one host and port. */
  readonly targets: readonly Target[];
  readonly connections: number;
  /** The first event's number; the others follow. */
  readonly firstSeq: number;
  /** The number of receivers that get each event: it has as many numbers, of which the first is in it. */
  readonly copies: number;
}

/** As fast as answers come: every connection sends its next request when it has its answer. */
export interface ClosedLoad extends LoadBase {
  readonly durationMs: number;
  readonly maxEvents: number;
}

/** At its own rate, independent of the answers. */
export interface OpenLoad extends LoadBase {
  readonly ratePerSecond: number;
  readonly events: number;
}

/** The result of a load. sent = answered by any status + unanswered. */
export interface LoadResult {
  readonly sent: number;
  readonly accepted: number;
  /** Answers other than 202, by status. */
  readonly refused: Readonly<Record<string, number>>;
  readonly unanswered: number;
  /** Accepted by target. */
  readonly acceptedBy: readonly number[];
  /** Accepted a second, up to the moment the last request was sent. */
  readonly rate: number;
  /** From due (closed loop: sent) to the whole answer, ms. */
  readonly answerMs: Percentiles;
  /** CPU this process used, as a share of one core. */
  readonly load: number;
}

export type GeneratorApi = {
  closed(load: ClosedLoad): Promise<LoadResult>;
  open(load: OpenLoad): Promise<LoadResult>;
};

/** Numbers of a load under way. */
class Tally {
  readonly acceptedBy: number[];
  readonly refused: Record<string, number> = {};
  readonly #startedAt = machineNow();
  readonly #cpu = process.cpuUsage();
  readonly #latencies: number[] = [];
  sent = 0;
  answered = 0;
  accepted = 0;
  unanswered = 0;
  #closing: { readonly at: number; readonly accepted: number } | undefined;

  constructor(targets: number) {
    this.acceptedBy = new Array<number>(targets).fill(0);
  }

  answer(status: number, target: number, latency: number): void {
    this.answered += 1;
    if (status === 202) {
      this.accepted += 1;
      this.acceptedBy[target] = (this.acceptedBy[target] ?? 0) + 1;
      this.#latencies.push(latency);
    } else {
      this.refused[status] = (this.refused[status] ?? 0) + 1;
    }
  }

  /** The load is over: later answers do not count for the rate. */
  close(): void {
    this.#closing ??= { at: machineNow(), accepted: this.accepted };
  }

  result(): LoadResult {
    const { at, accepted } = this.#closing ?? { at: machineNow(), accepted: this.accepted };
    const { user, system } = process.cpuUsage(this.#cpu);
    return {
      sent: this.sent,
      accepted: this.accepted,
      refused: this.refused,
      unanswered: this.unanswered,
      acceptedBy: this.acceptedBy,
      rate: (accepted / (at - this.#startedAt)) * 1000,
      answerMs: percentilesOf(Float64Array.from(this.#latencies)),
      load: (user + system) / 1000 / (machineNow() - this.#startedAt),
    };
  }
}

/** A keep-alive connection that has one request under way at most. Plain sockets: an HTTP client would cost more. */
class Connection {
  readonly #socket: Socket;
  readonly #request: Buffer;
  #partial: Buffer | undefined;
  #done: ((status: number | null) => void) | undefined;

  constructor(socket: Socket, requestBytes: number) {
    this.#socket = socket.setNoDelay(true);
    this.#request = Buffer.alloc(requestBytes);
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", () => {});
    socket.on("close", () => this.#done?.(null));
  }

  /** `done` is given the answer's status, or null when the connection was lost before. */
  send(template: RequestTemplate, seq: number, due: number, done: (status: number | null) => void): void {
    if (this.lost) return done(null);
    this.#done = done;
    const length = writeRequest(template, this.#request, seq, due);
    this.#socket.write(this.#request.subarray(0, length));
  }

  get lost(): boolean {
    return this.#socket.destroyed;
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    const answer = this.#partial ? Buffer.concat([this.#partial, chunk]) : chunk;
    const text = answer.toString("latin1");
    const headEnd = text.indexOf("\r\n\r\n");
    const length = headEnd < 0 ? undefined : /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
    if (headEnd >= 0 && length === undefined) throw new Error(`an answer without length: ${text.slice(0, headEnd)}`);
    if (length === undefined || text.length < headEnd + 4 + Number(length)) {
      this.#partial = answer;
      return;
    }
    this.#partial = undefined;
    const done = this.#done;
    this.#done = undefined;
    done?.(Number(text.slice(9, 12)));
  }
}

/** Sends the nth event; `next` hears when the connection is free again, or lost: then it leaves all unanswered. */
type Send = (connection: Connection, n: number, due: number, next: (connection: Connection) => void) => void;

/** Opens the connections, runs `drive`, and closes them once every request is answered. */
async function withConnections(
  { targets, connections: count, firstSeq, copies }: LoadBase,
  drive: (idle: Connection[], send: Send) => Promise<void>,
): Promise<LoadResult> {
  const [first] = targets;
  if (!first) throw new Error("a load needs a target");
  const templates = targets.map(({ host, port, path, apiKey, owners }) =>
    requestTemplate(`${host}:${port}`, path, apiKey, owners));
  const requestBytes = Math.max(...templates.map(({ bytes }) => bytes.length));
  const sockets = Array.from({ length: count }, () => connect(first.port, first.host));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  const tally = new Tally(targets.length);
  const all = sockets.map((socket) => new Connection(socket, requestBytes));
  const send: Send = (connection, n, due, next) => {
    const target = n % templates.length;
    tally.sent += 1;
    connection.send(templates[target]!, firstSeq + n * copies, due, (status) => {
      if (status === null) tally.unanswered += 1;
      else tally.answer(status, target, machineNow() - due);
      next(connection);
    });
  };
  await drive([...all], send);
  tally.close();
  const until = machineNow() + 30_000;
  while (tally.answered + tally.unanswered < tally.sent && machineNow() < until) {
    await pause(1);
  }
  const result = { ...tally.result(), unanswered: tally.sent - tally.answered };
  for (const connection of all) connection.close();
  return result;
}

const api: GeneratorApi = {
  closed: (load) =>
    withConnections(load, async (idle, send) => {
      const end = machineNow() + load.durationMs;
      let next = 0;
      await new Promise<void>((resolve) => {
        let running = idle.length;
        const again = (connection: Connection) => {
          const now = machineNow();
          const goesOn = !connection.lost && now < end && next < load.maxEvents;
          if (goesOn) send(connection, next++, now, again);
          else if (--running === 0) resolve();
        };
        for (const connection of idle) again(connection);
      });
    }),

  open: (load) =>
    withConnections(load, async (idle, send) => {
      // In turn, so that none idles long enough to be closed by the server.
      const free = (connection: Connection) => void idle.push(connection);
      await emitOpenLoop(load.events, load.ratePerSecond, machineNow(), (n, due) => {
        // With only lost connections left the load ends, void, in place of never.
        while (idle.length > 1 && idle[0]!.lost) idle.shift();
        const connection = idle.shift();
        if (connection) send(connection, n, due, free);
        return connection !== undefined;
      });
    }),
};

serve(api);
