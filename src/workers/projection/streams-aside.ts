import { leases } from "../../../projections/due/due.ts";
import { setAside, setStreamAside } from "../../../projections/set-aside/set-aside.ts";
import { everyDocument } from "../../application/scans.ts";
import type { UnreadableEntry } from "../../ports/event-store.ts";
import type { Change, ReadModels } from "../../ports/read-models.ts";

/** The streams that are not projected any further; the read models remember them. */
export class StreamsAside {
  readonly #readModels: Pick<ReadModels, "find">;
  readonly #streams = new Set<string>();

  constructor(readModels: Pick<ReadModels, "find">) {
    this.#readModels = readModels;
  }

  /** Reads what the read models remember; answers how many streams there are. */
  async load(): Promise<number> {
    this.#streams.clear();
    for (const { stream } of await everyDocument(this.#readModels, setAside)) this.#streams.add(stream);
    return this.#streams.size;
  }

  /** Whether the stream was set aside, by the last load or since. */
  has(stream: string): boolean {
    return this.#streams.has(stream);
  }

  /**
   * Sets the entry's stream aside; answers what that changes. `eventId`: the event that it is about, if any. Every
   * earlier entry must have been applied.
   */
  async add(
    { stream, revision, type, unreadable }: UnreadableEntry, eventId: string | undefined,
  ): Promise<readonly Change[]> {
    const leaseKeys = eventId === undefined ? [] : await this.#leaseKeys(eventId);
    this.#streams.add(stream);
    return setStreamAside({ stream, revision, type, reason: unreadable }, eventId, leaseKeys);
  }

  /** The keys of an event's leases: they begin with its id and a colon, and a semicolon comes next. */
  async #leaseKeys(eventId: string): Promise<string[]> {
    const range = { field: leases.key, from: `${eventId}:`, to: `${eventId};` };
    const documents = await everyDocument(this.#readModels, leases, { range });
    return documents.map(({ key }) => key);
  }
}
