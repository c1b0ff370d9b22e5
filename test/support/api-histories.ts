import { RelayError } from "../../packages/client/src/index.ts";
import type { ApiClient, Json } from "./api-client.ts";

/** A fact of an event, as the history gives it. */
export interface HistoryFact {
  readonly type: string;
  readonly time: string;
  readonly data: Json & { readonly to?: string; readonly attempt?: number; readonly reason?: string };
}

/** Every stored event's facts, as the log has them. */
export type Histories = ReadonlyMap<string, readonly HistoryFact[]>;

const historyPage = 100;
const atOnce = 16;

/** The status an event's facts come to; undefined without any. */
export function statusOf(facts: readonly HistoryFact[]): string | undefined {
  return facts.length === 0 ? undefined : (facts.at(-1)?.data.to ?? "Pending");
}

/** Reads every event's facts: those listed, and those in `known` that the list may lack. */
export async function readHistories(owner: ApiClient, known: readonly string[] = []): Promise<Histories> {
  const ids = new Set(known);
  for (const event of await readAll(owner, "/api/v1/events?")) ids.add(event["id"] as string);
  const histories = new Map<string, readonly HistoryFact[]>();
  const waiting = [...ids];
  const read = async () => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      const facts = await readAll(owner, `/api/v1/events/${id}/history?`).catch((error: unknown) => {
        if (error instanceof RelayError && error.status === 404) return [];
        throw error;
      });
      if (facts.length > 0) histories.set(id, facts as unknown as readonly HistoryFact[]);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, read));
  return histories;
}

/** All items of a list; `path` ends where further parameters may follow. */
export async function readAll(owner: ApiClient, path: string): Promise<Json[]> {
  const items: Json[] = [];
  for (let page = 1; ; page += 1) {
    const { items: found, total } = await owner.get(`${path}Qt=${historyPage}&Pg=${page}`);
    items.push(...(found as Json[]));
    if (items.length >= Number(total) || (found as Json[]).length === 0) return items;
  }
}
