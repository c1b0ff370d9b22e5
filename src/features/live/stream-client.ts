import { logStart, type Position, type RecordedEvent } from "../../kernel/ports/event-store.ts";
import { frameText, isWanted, type Frame, type Wanted } from "./frames.ts";

const framesASecond = 200;
const secondMs = 1_000;
/** Characters that wait for a client to take them; beyond, the client is closed. */
const mostUnsent = 1024 * 1024;
/** A client that resumes gets no more frames while so many characters wait. */
const resumingUnsent = 64 * 1024;
/** Characters handed over at once, or a little more: so few are not counted among what waits for clients. */
const takenAtOnce = 4 * 1024;

/** Why the service ended a stream. */
export type EndReason = "displaced" | "expired" | "session over" | "shutdown" | "unavailable";

/** An entry of the log with its frames, as clients get it. */
export class FramedEntry {
  readonly position: Position;
  readonly at: string;
  readonly #frames: readonly Frame[];
  #asked: { readonly wanted: string; readonly frames: readonly Frame[] } | undefined;

  constructor({ position, metadata }: RecordedEvent, frames: readonly Frame[]) {
    this.position = position;
    this.at = metadata.at;
    this.#frames = frames;
  }

  /** The frames that are wanted. Most clients of a tenant want the same: the last answer is kept under its name. */
  wantedBy(wanted: Wanted, name: string): readonly Frame[] {
    if (this.#asked?.wanted !== name) {
      this.#asked = { wanted: name, frames: this.#frames.filter((frame) => isWanted(frame, wanted)) };
    }
    return this.#asked.frames;
  }
}

/** Whose stream it is, and how to learn that its session is over. */
export interface StreamCaller {
  readonly tenantId: string;
  readonly id: string;
  /** The ids of the token and its session, of the service key, or of the portal link. */
  readonly credentialIds: readonly string[];
  readonly expiresAt: string | null;
  /** Rejects with a Refusal (unauthenticated, forbidden) once the session is over. */
  readonly check: () => Promise<unknown>;
  readonly gone: AbortSignal;
}

interface Dropped {
  count: number;
  last: FramedEntry;
}

/** The text that ends a frame; only the last frame of an entry says the entry's position. */
function endOf(position: Position | null): string {
  return position === null ? "\n" : `id: ${position}\n\n`;
}

/** A comment, which says from where a client without any frame resumes. */
export function commentOf(position: Position | null): string {
  return `:\n${endOf(position)}`;
}

/** One client of the stream: texts waiting to be sent, given as the client takes them. */
export class StreamClient implements AsyncIterable<string, undefined> {
  readonly caller: StreamCaller;
  readonly wanted: Wanted;
  readonly #wantedName: string;
  /** Whether it gets entries as they come; else it still resumes. */
  isLive = false;
  /** The client has had, or does not want, what is in the log up to here. */
  position: Position = logStart;
  readonly #roomy: () => void;
  #texts: string[] = [];
  #unsent = 0;
  #wake: (() => void) | undefined;
  #ended = false;
  #second = { from: -Infinity, frames: 0 };
  #dropped: Dropped | undefined;

  /** `roomy`: called when all texts were taken. */
  constructor(caller: StreamCaller, wanted: Wanted, roomy: () => void) {
    this.caller = caller;
    this.wanted = wanted;
    this.#wantedName = JSON.stringify(wanted);
    this.#roomy = roomy;
  }

  [Symbol.asyncIterator](): AsyncIterator<string, undefined> {
    return { next: () => this.#next() };
  }

  async #next(): Promise<IteratorResult<string, undefined>> {
    if (this.#texts.length === 0 && !this.#ended) {
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      this.#roomy();
      await woken;
    }
    return this.#texts.length === 0 ? { value: undefined, done: true } : { value: this.#taken(), done: false };
  }

  get isOver(): boolean {
    return this.#ended;
  }

  /** Whether frames were dropped of which the client is not told yet. */
  get hasDropped(): boolean {
    return this.#dropped !== undefined;
  }

  get hasRoom(): boolean {
    return this.#unsent < resumingUnsent;
  }

  /** Takes a live entry; drops its frames where too many come in this second. False: the client was closed. */
  offer(entry: FramedEntry, now: number): boolean {
    const frames = entry.wantedBy(this.wanted, this.#wantedName);
    if (frames.length === 0) return true;
    this.passSecond(now);
    if (this.#dropped || this.#second.frames + frames.length > framesASecond) {
      this.#dropped = { count: (this.#dropped?.count ?? 0) + frames.length, last: entry };
      return true;
    }
    const length = frames.reduce((sum, frame) => sum + this.#textOf(frame).length, 0);
    if (this.#unsent > 0 && this.#unsent + length > mostUnsent) {
      this.#close(entry.at, frames.length);
      return false;
    }
    this.#second.frames += frames.length;
    this.#add(entry, frames);
    return true;
  }

  /** Takes an entry of the past, which is never dropped. */
  resume(entry: FramedEntry): void {
    this.#add(entry, entry.wantedBy(this.wanted, this.#wantedName));
  }

  /** Begins the next second if the last one is over, and tells the client what it lost in that. */
  passSecond(now: number): void {
    if (now - this.#second.from < secondMs) return;
    this.#second = { from: now, frames: 0 };
    if (!this.#dropped) return;
    const { count, last } = this.#dropped;
    this.#dropped = undefined;
    this.#push(frameText("lagged", { dropped: count, until: last.at }) + endOf(last.position));
  }

  /** Adds a text that is no frame of an entry. */
  say(text: string): void {
    if (!this.#ended) this.#push(text);
  }

  end(reason: EndReason): void {
    this.say(frameText("end", { reason }) + endOf(null));
    this.#ended = true;
    this.flush();
  }

  /** The connection is gone: nothing is to be sent any more. */
  drop(): void {
    this.#texts = [];
    this.#ended = true;
    this.flush();
  }

  /** Hands over the texts that wait, if the client waits for them. */
  flush(): void {
    if (this.#texts.length === 0 && !this.#ended) return;
    this.#wake?.();
    this.#wake = undefined;
  }

  #add({ position }: FramedEntry, frames: readonly Frame[]): void {
    frames.forEach((frame, index) => {
      this.#push(this.#textOf(frame) + endOf(index === frames.length - 1 ? position : null));
    });
  }

  #textOf(frame: Frame): string {
    return (this.wanted.payload ? frame.withPayload?.() : undefined) ?? frame.text;
  }

  /** The client takes nothing: all that waits is dropped. It resumes at the last frame that it took. */
  #close(until: string, frames: number): void {
    const dropped = this.#texts.filter((text) => text.startsWith("event: ")).length + frames;
    this.#texts = [frameText("lagged", { dropped, until }) + endOf(null)];
    this.#ended = true;
    this.flush();
  }

  #push(text: string): void {
    this.#texts.push(text);
    this.#unsent += text.length;
  }

  #taken(): string {
    let count = 0;
    for (let length = 0; count < this.#texts.length && length < takenAtOnce; count += 1) {
      length += this.#texts[count]!.length;
    }
    const text = this.#texts.splice(0, count).join("");
    this.#unsent -= text.length;
    return text;
  }
}
