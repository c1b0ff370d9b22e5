import { open, type Call, type ClientOptions } from "./call.ts";
import { mayPass, pauseFor } from "./retries.ts";
import type { Schemas } from "./types.ts";

/** A fact of an event, as the stream tells it. */
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
  /** Whether it is a test event. */
  readonly test: boolean;
  /** Of an accepted event, if the stream was asked for payloads. */
  readonly payload?: string;
}

interface Data {
  readonly moved: Moved;
  readonly circuit: Schemas["HistoryItem"];
  readonly audit: Schemas["AuditItem"];
  /** Frames were left out: how many, and the time of the newest. */
  readonly lagged: { readonly dropped: number; readonly until: string };
  /** The stream could not be resumed: it goes on behind this place in the log. */
  readonly gone: { readonly head: string };
  readonly end: { readonly reason: string };
}

/** A frame of the stream: what it is, its fields, and its place in the log where it says one. */
export type StreamFrame = {
  readonly [Event in keyof Data]: { readonly event: Event; readonly data: Data[Event]; readonly id: string | null };
}[keyof Data];

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** Frames that are of no entry of the log. */
const notices: readonly string[] = ["lagged", "gone", "end"];

/**
 * The frames of the stream, for as long as they are iterated. After a break it connects again, and goes on behind the
 * last frame. Rejects as any operation does where that cannot help: once the session is over, with its 401. `pause`
 * waits so many ms before it connects again.
 */
export async function* followed(
  client: ClientOptions, call: Call, pause: typeof pauseFor = pauseFor,
): AsyncGenerator<StreamFrame, void> {
  const { signal } = call.options;
  const headers = new Headers(call.options.headers);
  for (let breaks = 0; ; breaks += 1) {
    // Of an entry's frames only the last one has its place. They are given together: resumed, all of them come again.
    let entry: StreamFrame[] = [];
    let isDisplaced = false;
    try {
      const asked = { ...call, options: { ...call.options, headers: Object.fromEntries(headers) } };
      const { body } = await open(client, asked, async (answer) => answer);
      for await (const { event, data, id } of blocksOf(body)) {
        breaks = 0;
        isDisplaced = event === "end" && data?.includes('"displaced"') === true;
        if (data !== null) entry.push({ event, data: JSON.parse(data) as unknown, id } as StreamFrame);
        if (id !== null) headers.set("Last-Event-ID", id);
        else if (data !== null && !notices.includes(event)) continue;
        yield* entry;
        entry = [];
      }
    } catch (error) {
      // What breaks off the answer is the platform's own error, a TypeError.
      if (signal?.aborted || !(mayPass(error) || error instanceof TypeError)) throw error;
    }
    signal?.throwIfAborted();
    // A newer stream of the caller has its place: both would displace each other without a pause.
    await pause(isDisplaced ? longestPauseMs : Math.min(firstPauseMs * 2 ** breaks, longestPauseMs), signal);
  }
}

interface Block {
  readonly event: string;
  /** Null where the block has none: a comment, or an id alone. */
  readonly data: string | null;
  readonly id: string | null;
}

/** The blocks of server-sent events, as the relay writes them: each field once, and in one line. */
async function* blocksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Block, void> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
      const blocks = (text + decoder.decode(read.value, { stream: true })).split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) yield fieldsOf(block);
    }
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
}

function fieldsOf(block: string): Block {
  const lines = block.split("\n");
  const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  return { event: field("event") ?? "message", data: field("data") ?? null, id: field("id") ?? null };
}
