import { isDeepStrictEqual } from "node:util";
import type { EventDocument } from "../../../projections/events/events.ts";
import type { components, Inputs } from "../../../schemas/api.ts";
import { ownOf } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { LongReads } from "../../kernel/log/long-reads.ts";
import { late, within } from "../../kernel/ports/clock.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import { acceptanceOf } from "../events/webhooks.ts";
import { checkedMapping } from "../mappings.ts";
import { senders } from "./facts.ts";

const most = { ms: 5_000, shown: 20 };
/** A double holds numbers of this many characters exactly. */
const exactCharacters = 15;

/** What a mapping would make of recorded originals, compared with the payloads made of them. */
export type MappingPreviewView = Readonly<components["schemas"]["MappingPreview"]>;

interface Recorded {
  readonly original: string;
  readonly payload: string;
}

/** Tries mappings on the newest originals of a sender, one after another: a call takes one mapping process at most. */
export class MappingPreview {
  readonly #parts;

  constructor(
    parts: Pick<KernelParts, "store" | "aggregates" | "clock" | "mappings"> & { readonly shown: ShownEvents },
  ) {
    this.#parts = parts;
  }

  /** Tries until the time is up. Throws a Refusal (invalid, not-found, forbidden, unavailable), or CallerGone. */
  async preview(
    caller: Caller, { senderId, mapping: given, last }: Inputs["previewMapping"],
  ): Promise<MappingPreviewView> {
    const { aggregates, clock, mappings } = this.#parts;
    const { tenantId } = caller;
    const until = clock.monotonic() + most.ms;
    const { expression } = await checkedMapping(mappings, tenantId, given);
    const sender = await ownOf(aggregates, senders, senderId.toLowerCase(), caller, "sender");
    const [differ, failed]: [MappingPreviewView["differ"], MappingPreviewView["failed"]] = [[], []];
    let [tried, same] = [0, 0];
    for (const document of await this.#newest(tenantId, sender.id, last)) {
      const { id: eventId } = document;
      const trial = this.#tried(tenantId, expression, document);
      const result = await within(clock, Math.max(0, until - clock.monotonic()), trial);
      if (result === late) break;
      if (result === undefined) continue;
      const { before, mapped } = result;
      tried += 1;
      if ("problem" in mapped) {
        if (failed.length < most.shown) failed.push({ eventId, error: `the mapping ${mapped.problem}` });
      } else if (isSameJson(before, mapped.text)) same += 1;
      else if (differ.length < most.shown) differ.push({ eventId, before, after: mapped.text });
    }
    return { tried, same, differ, failed };
  }

  #newest(tenantId: string, senderId: string, limit: number): Promise<readonly EventDocument[]> {
    const { shown } = this.#parts;
    const slice = { order: { field: "id", descending: true }, limit };
    return shown.ask(tenantId, () => shown.page({ tenantId, senderId }, slice));
  }

  async #tried(tenantId: string, expression: string, document: EventDocument) {
    const recorded = await this.#recorded(tenantId, document);
    if (!recorded) return undefined;
    const mapped = await this.#parts.mappings.apply(tenantId, expression, recorded.original);
    return { before: recorded.payload, mapped };
  }

  /** The texts of an event; undefined where it was purged meanwhile, or is of a newer release. */
  async #recorded(tenantId: string, document: EventDocument): Promise<Recorded | undefined> {
    const { store } = this.#parts;
    const accepted = await LongReads.of(store).run(tenantId, (turn) => turn(() => acceptanceOf(store, document)));
    return accepted && { original: accepted.data.original ?? accepted.data.payload, payload: accepted.data.payload };
  }
}

/** Whether two JSON texts have the same value, with every digit, whatever the order of their fields. */
function isSameJson(one: string, other: string): boolean {
  return one === other || isDeepStrictEqual(withEveryDigit(one), withEveryDigit(other));
}

function withEveryDigit(text: string): unknown {
  return JSON.parse(text, (_key, value, { source }) =>
    (typeof value === "number" && source !== undefined && source.length > exactCharacters
      ? JSON.rawJSON(source) : value));
}
