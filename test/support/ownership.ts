import type { WorkRecorder } from "./work-recorder.ts";

/** From when to when a destination was seen to be owned, in milliseconds of the clock all processes share. */
export type Span = readonly [from: number, to: number];

const sampleEveryMs = 2;

/** Samples which destinations a consumer owns, and notes the spans. */
export class OwnershipWatch {
  readonly #recorder: WorkRecorder;
  readonly #spans: Map<string, [number, number][]>;
  readonly #owned = new Set<string>();
  readonly #timer: NodeJS.Timeout;

  constructor(recorder: WorkRecorder, destinations: readonly string[]) {
    this.#recorder = recorder;
    this.#spans = new Map(destinations.map((id) => [id, []]));
    this.#timer = setInterval(() => this.#look(), sampleEveryMs);
  }

  /** The spans that were seen until now, by destination. */
  get spans(): Readonly<Record<string, readonly Span[]>> {
    return Object.fromEntries(this.#spans);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = Number(process.hrtime.bigint()) / 1e6;
    for (const [id, spans] of this.#spans) {
      const owns = this.#recorder.owns(id);
      const last = spans.at(-1);
      if (owns && last && this.#owned.has(id)) last[1] = now;
      else if (owns) spans.push([now, now]);
      if (owns) this.#owned.add(id);
      else this.#owned.delete(id);
    }
  }
}

/** Whether any of the one's spans meets any of the other's. */
export function overlap(a: readonly Span[], b: readonly Span[]): boolean {
  return a.some(([aFrom, aTo]) => b.some(([bFrom, bTo]) => aFrom < bTo && bFrom < aTo));
}
