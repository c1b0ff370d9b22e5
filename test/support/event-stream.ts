import { setTimeout as pause } from "node:timers/promises";

/** A frame of server-sent events. */
export interface Frame {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly id: string | null;
}

/** A client of the stream of server-sent events. */
export class EventStream {
  readonly status: number;
  readonly headers: Headers;
  /** All frames so far. */
  readonly frames: Frame[] = [];
  /** How many comments have come. */
  comments = 0;
  /** The id from which the stream is resumed. */
  lastId: string | null = null;
  /** Resolves when the stream is over; with an error where it was cut off. */
  readonly ended: Promise<Error | null>;
  readonly #abort = new AbortController();
  #text = "";
  #changed = Promise.withResolvers<void>();

  static async open(url: string, headers: Readonly<Record<string, string>>): Promise<EventStream> {
    const abort = new AbortController();
    return new EventStream(await fetch(url, { headers, signal: abort.signal }), abort);
  }

  private constructor(answer: Response, abort: AbortController) {
    this.status = answer.status;
    this.headers = answer.headers;
    this.#abort = abort;
    this.ended = this.#read(answer).then(() => null, (error: unknown) => error as Error);
  }

  /** Resolves with the frames once they satisfy a condition; rejects where that takes too long. */
  async until(isMet: (frames: readonly Frame[]) => boolean, withinMs = 10_000): Promise<readonly Frame[]> {
    const endAt = performance.now() + withinMs;
    while (!isMet(this.frames)) {
      const left = endAt - performance.now();
      const change = await Promise.race([this.#changed.promise, this.ended, pause(left, "late")]);
      if (change === undefined) continue;
      throw new Error(`${change === "late" ? "in time" : "before the end"} came only ${JSON.stringify(this.frames)}`);
    }
    return this.frames;
  }

  /** Closes the connection. */
  async close(): Promise<void> {
    this.#abort.abort();
    await this.ended;
  }

  async #read(answer: Response): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) {
      this.#text += decoder.decode(chunk as Uint8Array, { stream: true });
      const blocks = this.#text.split("\n\n");
      this.#text = blocks.pop() ?? "";
      for (const block of blocks) this.#take(block);
      this.#changed.resolve();
      this.#changed = Promise.withResolvers<void>();
    }
  }

  #take(block: string): void {
    const lines = block.split("\n");
    const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    this.comments += lines.filter((line) => line.startsWith(":")).length;
    const id = field("id") ?? null;
    if (id !== null) this.lastId = id;
    const [event, data] = [field("event"), field("data")];
    if (event === undefined || data === undefined) return;
    this.frames.push({ event, data: JSON.parse(data) as Frame["data"], id });
  }
}
