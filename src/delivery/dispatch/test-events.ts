import { logStart, type Position } from "../../kernel/ports/event-store.ts";
import type { DueIndex } from "../requests/due-index.ts";
import type { Ended } from "./work.ts";

/** The test events of one destination that wait for their attempt: few, and found in the due index. */
export class TestEvents {
  readonly #destinationId: string;
  readonly #parts: { readonly dueIndex: Pick<DueIndex, "cover" | "tests"> };
  /** The position that the due index must cover before it is asked; undefined while it need not be. */
  #lookFrom: Position | undefined;
  #looking = false;
  readonly #waiting: string[] = [];
  /** Events that were found, and whose attempt has not ended. */
  readonly #present = new Set<string>();

  constructor(destinationId: string, parts: { readonly dueIndex: Pick<DueIndex, "cover" | "tests"> }) {
    this.#destinationId = destinationId;
    this.#parts = parts;
  }

  /** There may be test events that were accepted up to this position. */
  lookFor(position: Position): void {
    if (this.#lookFrom === undefined || this.#lookFrom < position) this.#lookFrom = position;
  }

  get wanted(): boolean {
    return this.#lookFrom !== undefined && !this.#looking;
  }

  /** Whether there is an event to {@link take}, or a look to begin. */
  get called(): boolean {
    return this.#waiting.length > 0 || this.wanted;
  }

  /** Begins a look. The function finds test events to {@link take}. Throws as the due index does. */
  look(): () => Promise<void> {
    const position = this.#lookFrom ?? logStart;
    this.#lookFrom = undefined;
    this.#looking = true;
    return () => this.#find(position);
  }

  async #find(position: Position): Promise<void> {
    try {
      await this.#parts.dueIndex.cover(position);
      const waiting = await this.#parts.dueIndex.tests(this.#destinationId);
      const fresh = waiting.filter((eventId) => !this.#present.has(eventId));
      for (const eventId of fresh) this.#present.add(eventId);
      this.#waiting.push(...fresh);
    } catch (error) {
      this.lookFor(position);
      throw error;
    } finally {
      this.#looking = false;
    }
  }

  /** Takes the next event to send. None comes again before its {@link end}. */
  take(): string | undefined {
    return this.#waiting.shift();
  }

  /** The attempt of an event has ended; without one, the event is looked for again. */
  end(eventId: string, ended: Ended | undefined): void {
    this.#present.delete(eventId);
    if (ended === undefined || ended === "not ours") this.lookFor(logStart);
  }
}
