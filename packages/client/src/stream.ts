import { open, type Call, type CallOptions, type ClientOptions } from "./call.ts";
import { notTheRelays, RelayError, unreachable } from "./relay-error.ts";
import { byTimeout, pauseFor, type After } from "./retries.ts";
import type { Schemas } from "./types.ts";

/** A fact of an event in the stream. */
export interface Moved {
  readonly eventId: string;
  readonly destinationUrlId: string;
  /** The fact's type, such as `DeliverySucceeded`. */
  readonly type: string;
  /** The status before; null for an event that was just accepted. */
  readonly from: Schemas["EventStatus"] | null;
  readonly to: Schemas["EventStatus"];
  readonly at: string;
  readonly attempt: number | null;
  readonly statusCode: number | null;
  readonly reason: string | null;
  readonly durationMs: number | null;
  readonly test: boolean;
  readonly eventType: string | null;
  readonly ownerId: string | null;
  readonly senderId: string | null;
  /** Of an accepted event, if the stream was asked for payloads. */
  readonly payload?: string;
}

interface Data {
  readonly moved: Moved;
  readonly circuit: Schemas["HistoryItem"] & { readonly destinationUrlId: string };
  readonly audit: Schemas["AuditItem"];
  /** Frames were left out: how many, and the time of the newest. */
  readonly lagged: { readonly dropped: number; readonly until: string };
  /** The stream could not be resumed: it goes on behind this place in the log. */
  readonly gone: { readonly head: string };
  readonly end: { readonly reason: string };
}

/** A frame of the stream: its event, its fields, and its place in the log, if given. */
export type StreamFrame = {
  readonly [Event in keyof Data]: { readonly event: Event; readonly data: Data[Event]; readonly id: string | null };
}[keyof Data];

/** The connection of a stream, whenever it changes. */
export type StreamConnection =
  | { readonly isLive: true }
  | {
    readonly isLive: false;
    /** Failed attempts to connect again; 0 right after the connection was lost. */
    readonly failures: number;
    /** Why the last attempt failed, or why the connection was lost; undefined where the relay ended the stream. */
    readonly error?: RelayError | undefined;
  };

/** Options of the stream. */
export interface FollowOptions extends CallOptions {
  /** Is called when the connection is live, when it is lost, and after each failed attempt to connect again. */
  readonly onConnection?: (connection: StreamConnection) => void;
}

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** A connection that is silent for so long is lost, ms: the relay sends a comment every 15 s. */
export const silenceMs = 45_000;
/** Frames that are of no entry of the log. */
const notices: readonly string[] = ["lagged", "gone", "end"];

/**
 * The frames of the stream, for as long as they are iterated. After a break, a silence of 45 s, and any answer but a
 * 401, it connects again after a pause that grows from 1 s to 30 s, and goes on behind the last frame. Rejects once the
 * session is over, with its 401, and with the signal's reason.
 */
export async function* followed(
  client: ClientOptions, call: Call & { readonly options: FollowOptions }, after: After = byTimeout,
): AsyncGenerator<StreamFrame, void> {
  const { signal, onConnection } = call.options;
  const headers = new Headers(call.options.headers);
  let isPlaceLost = false;
  for (let failures = 0; ; failures += 1) {
    // Only the last frame of an entry has its position. They are given together: after a resumption all of them come
    // again.
    let entry: StreamFrame[] = [];
    let isDisplaced = false;
    let isLive = false;
    let problem: RelayError | undefined;
    try {
      for await (const { event, data, id } of blocks(client, call, headers, after)) {
        if (!isLive) onConnection?.({ isLive: true });
        [isLive, failures] = [true, 0];
        isDisplaced = event === "end" && (data as { readonly reason?: unknown } | null)?.reason === "displaced";
        if (data !== null) entry.push({ event, data, id } as StreamFrame);
        else if (isPlaceLost && id !== null) entry.push({ event: "gone", data: { head: id }, id });
        if (id !== null) {
          headers.set("Last-Event-ID", id);
          isPlaceLost = false;
        } else if (data !== null && !notices.includes(event)) continue;
        yield* entry;
        entry = [];
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof RelayError) || error.status === 401) throw error;
      problem = error;
      // Another log does not know the position: the stream continues at that log's end.
      if (error.details.field === "Last-Event-ID") {
        headers.delete("Last-Event-ID");
        isPlaceLost = true;
      }
    }
    signal?.throwIfAborted();
    onConnection?.({ isLive: false, failures, error: problem });
    // A newer stream of the caller took its place: both would displace each other without a pause.
    const ms = isDisplaced ? longestPauseMs : Math.min(firstPauseMs * 2 ** failures, longestPauseMs);
    await pauseFor(ms, signal, after);
  }
}

interface Block {
  readonly event: string;
  /** The JSON value; null where the block has none: a comment, or an id alone. */
  readonly data: unknown;
  readonly id: string | null;
}

/**
 * The blocks of server-sent events of one connection, as the relay writes them: each field once, and in one line.
 * Rejects with a RelayError unless the relay ends the answer.
 */
async function* blocks(
  client: ClientOptions, call: Call, headers: Headers, after: After,
): AsyncGenerator<Block, void> {
  const lost = new AbortController();
  const heard = async <Result>(sent: Promise<Result>): Promise<Result> => {
    const silent = () => lost.abort(unreachable(call.id, new Error(`nothing came for ${silenceMs / 1_000} s`)));
    const cancel = after(silenceMs, silent);
    return sent.finally(cancel);
  };
  const signal = call.options.signal ? AbortSignal.any([call.options.signal, lost.signal]) : lost.signal;
  const asked = { ...call, options: { signal, headers: Object.fromEntries(headers) } };
  const answer = await heard(open(client, asked, async (response) => response));
  const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  const reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined = answer.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    if (!isStream || !reader) throw notTheRelays(call.id, answer);
    for (let read = await heard(reader.read()); !read.done; read = await heard(reader.read())) {
      const whole = (text + decoder.decode(read.value, { stream: true })).split("\n\n");
      text = whole.pop() ?? "";
      for (const block of whole) yield blockOf(block);
    }
  } catch (error) {
    throw error instanceof RelayError ? error : unreachable(call.id, error);
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
}

/** Throws a SyntaxError where the data is not JSON. */
function blockOf(block: string): Block {
  const lines = block.split("\n");
  const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  const data = field("data");
  return {
    event: field("event") ?? "message", data: data === undefined ? null : JSON.parse(data), id: field("id") ?? null,
  };
}
