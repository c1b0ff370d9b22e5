import { events, type EventDocument, type EventFilter } from "../../../projections/events/events.ts";
import { eventTypeOf, tagNameAfter } from "../../../projections/events/labels.ts";
import { messages, type MessageDocument } from "../../../projections/messages/messages.ts";
import type { components } from "../../../schemas/api.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { isTagValue } from "../../kernel/domain/tags.ts";
import { uuidForm } from "../../kernel/domain/uuid.ts";
import type { Aggregates } from "../../kernel/log/aggregates.ts";
import type { EventStore } from "../../kernel/ports/event-store.ts";
import type { Document, PlaceInOrder, ReadModels } from "../../kernel/ports/read-models.ts";
import type { PlatformKeys } from "../../kernel/sealing/platform-keys.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import { loadShownByKey } from "../events/webhooks.ts";
import { loadMessageByKey } from "../messages/messages.ts";
import { nameOf, things } from "../things.ts";

/** Something that was found, and by which of its fields. */
export type FoundItem = Readonly<components["schemas"]["FoundItem"]>;
/** A kind of thing that can be found. */
export type FoundKind = FoundItem["kind"];

const mostItems = 20;
const newestEvents = 5;
/** The most names of tags that are looked under. */
const mostTagNames = 32;
/** Of each kind the newest things, and how many of them are read at once. */
const [newestThings, pageThings] = [2_000, 500];

const thingKinds = ["destination", "sender", "subscription", "user", "apiKey", "serviceAccount"] as const;
type FoundThing = (typeof thingKinds)[number];

const ranks = ["id", "exact", "tag", "beginning", "part", "newest"] as const;

interface Ranked extends FoundItem {
  readonly rank: (typeof ranks)[number];
}

type Newest = (
  filter: Omit<EventFilter, "tenantId">, limit: number, matched: string, rank: Ranked["rank"],
) => Promise<readonly Ranked[]>;

interface LookupParts {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
  readonly keys: PlatformKeys;
  readonly readModels: ReadModels;
  readonly shown: ShownEvents;
}

/** Finds the events, messages and things of a tenant by a text that a person has at hand. */
export class LookupQueries {
  readonly #parts: LookupParts;

  constructor(parts: LookupParts) {
    this.#parts = parts;
  }

  /** What a text finds among these kinds, the best match first. Throws a Refusal (unavailable). */
  async find({ tenantId }: Caller, text: string, kinds: ReadonlySet<FoundKind>): Promise<readonly FoundItem[]> {
    const found = await this.#parts.shown.ask(tenantId, async () => {
      const asked = thingKinds.filter((kind) => kinds.has(kind)).map((kind) => this.#things(tenantId, kind, text));
      if (kinds.has("event")) asked.push(this.#events(tenantId, text));
      if (kinds.has("message")) asked.push(this.#messages(tenantId, text));
      return (await Promise.all(asked)).flat();
    });
    const best = found.toSorted((one, other) => ranks.indexOf(one.rank) - ranks.indexOf(other.rank));
    const isFirst = (item: Ranked, at: number) => best.findIndex(({ id }) => id === item.id) === at;
    return best.filter(isFirst).slice(0, mostItems).map(({ rank: _, ...item }) => item);
  }

  async #things(tenantId: string, kind: FoundThing, text: string): Promise<readonly Ranked[]> {
    const { readModels } = this.#parts;
    const { collection: { name: collection, key }, fields } = things[kind];
    const itemOf = (document: Document, matched: string, rank: Ranked["rank"]): Ranked => {
      const id = document[key] as string;
      return { kind, id, label: nameOf({ fields }, document) ?? id, matched, rank };
    };
    const id = text.toLowerCase();
    const known = uuidForm.test(id) ? await readModels.get(collection, id) : null;
    if (known?.["tenantId"] === tenantId) return [itemOf(known, "id", "id")];
    const found: Ranked[] = [];
    let after: PlaceInOrder | undefined;
    for (let read = 0; read < newestThings; read += pageThings) {
      const order = { field: key, descending: true };
      const page = await readModels.find({
        collection, where: { tenantId }, order, limit: pageThings, ...(after && { after }),
      });
      for (const document of page) {
        for (const field of fields) {
          const rank = rankOf((document[field] as string | null)?.toLowerCase() ?? "", id);
          if (rank !== null) found.push(itemOf(document, field, rank));
        }
      }
      const last = page.at(-1);
      if (!last || page.length < pageThings) break;
      after = { value: last[key]!, key: last[key]! };
    }
    return found;
  }

  async #events(tenantId: string, text: string): Promise<readonly Ranked[]> {
    const { readModels, shown } = this.#parts;
    const id = text.toLowerCase();
    const known = uuidForm.test(id) ? await readModels.get(events.name, id) as EventDocument | null : null;
    if (known?.tenantId === tenantId) return [eventItem(known, "id", "id")];
    const newest: Newest = async (filter, limit, matched, rank) => {
      const order = { field: events.key, descending: true };
      const page = await shown.page({ tenantId, ...filter }, { order, limit });
      return page.map((event) => eventItem(event, matched, rank));
    };
    const [keyed, ...others] = await Promise.all([
      loadShownByKey(this.#parts, tenantId, text),
      newest({ correlationId: text }, mostItems, "correlationId", "exact"),
      this.#tagged(tenantId, text, newest),
      newest({ eventType: text }, newestEvents, "eventType", "newest"),
      newest({ ownerId: text }, newestEvents, "ownerId", "newest"),
    ]);
    const label = keyed && (keyed.eventType ?? keyed.idempotencyKey ?? keyed.id);
    const byKey: Ranked[] = keyed && label
      ? [{ kind: "event", id: keyed.id, label, matched: "idempotencyKey", rank: "exact" }] : [];
    return [...byKey, ...others.flat()];
  }

  async #messages(tenantId: string, text: string): Promise<readonly Ranked[]> {
    const { readModels, store, keys } = this.#parts;
    const stored = async (id: string) => {
      const found = await readModels.get(messages.name, id) as MessageDocument | null;
      return found?.tenantId === tenantId ? found : undefined;
    };
    const id = text.toLowerCase();
    const known = uuidForm.test(id) ? await stored(id) : undefined;
    if (known) return [{ kind: "message", id, label: known.eventType ?? id, matched: "id", rank: "id" }];
    const keyed = await loadMessageByKey(store, (await keys.get()).events, tenantId, text);
    const shown = keyed && await stored(keyed.data.messageId);
    if (!shown) return [];
    return [{
      kind: "message", id: shown.id, label: shown.eventType ?? text, matched: "idempotencyKey", rank: "exact",
    }];
  }

  /** The newest events with a tag of this value, under any of the tenant's names. */
  async #tagged(tenantId: string, value: string, newest: Newest): Promise<readonly Ranked[]> {
    if (!isTagValue(value)) return [];
    const names: string[] = [];
    while (names.length < mostTagNames) {
      const name = await tagNameAfter(this.#parts.readModels, tenantId, names.at(-1));
      if (name === null) break;
      names.push(name);
    }
    const found = await Promise.all(names.map((name) =>
      newest({ tags: [{ name, value }] }, mostItems, `tag:${name}`, "tag")));
    return found.flat();
  }
}

function eventItem(event: EventDocument, matched: string, rank: Ranked["rank"]): Ranked {
  const label = eventTypeOf(event) ?? event.idempotencyKey ?? event.id;
  return { kind: "event", id: event.id, label, matched, rank };
}

/** How well a name matches a text, both in lower case; null where it does not have it. */
function rankOf(name: string, text: string): Ranked["rank"] | null {
  if (name === text) return "exact";
  if (name.startsWith(text)) return "beginning";
  return name.includes(text) ? "part" : null;
}
