import { ownOf } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { isTagName, isTagValue, type Tags } from "../../kernel/domain/tags.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { senders, type Mapping } from "../senders/facts.ts";
import { liveSubscriptions, subscriptions, type Subscription } from "./facts.ts";
import { messageOf, route } from "./routing.ts";

/** A message that nobody posted. */
export interface TrialMessage {
  readonly senderId: string;
  readonly ownerId: string | null;
  readonly eventType: string | null;
  readonly tags: Tags | null;
  readonly payload: string;
}

/** Tells the subscriptions that would get a message. */
export class RoutingTrial {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "aggregates" | "mappings">) {
    this.#parts = parts;
  }

  /** The answer as JSON, in pieces. Throws a Refusal (invalid, not-found, forbidden, rejected, unavailable). */
  async route(caller: Caller, { senderId: id, payload, ...given }: TrialMessage): Promise<AsyncIterable<string>> {
    const { aggregates } = this.#parts;
    const { tenantId } = caller;
    checkTags(given.tags ?? {});
    const sender = await ownOf(aggregates, senders, id.toLowerCase(), caller, "sender");
    if (!sender.fanOut) refuse("rejected", "the sender does not fan out");
    const data = await this.#mapped(tenantId, sender.mapping, payload);
    if ("problem" in data) refuse("invalid", `payload: the sender's mapping ${data.problem}`);
    const read = (id: string) => aggregates.current(subscriptions, id);
    const live = await liveSubscriptions(read, sender.id, given.ownerId);
    const { matched, skipped } = route(messageOf(sender, payload, { ...given, data: data.text }), ...live);
    return this.#told(tenantId, matched, data.text, JSON.stringify(skipped));
  }

  /** Each payload is the very text that would be delivered: parsed once more, it would lose digits. */
  async *#told(
    tenantId: string, matched: readonly Subscription[], data: string, skipped: string,
  ): AsyncGenerator<string, void> {
    let begin = '{"matched":[';
    for (const { id: subscriptionId, destinationId: destinationUrlId, mapping } of matched) {
      const mapped = await this.#mapped(tenantId, mapping, data);
      const [text, problem] = "text" in mapped ? [mapped.text, null] : ["null", mapped.problem];
      const ids = JSON.stringify({ subscriptionId, destinationUrlId }).slice(0, -1);
      yield `${begin}${ids},"payload":${text},"problem":${JSON.stringify(problem)}}`;
      begin = ",";
    }
    yield `${matched.length === 0 ? begin : ""}],"skipped":${skipped}}`;
  }

  #mapped(tenantId: string, mapping: Mapping | null, text: string) {
    return mapping ? this.#parts.mappings.apply(tenantId, mapping.expression, text) : Promise.resolve({ text });
  }
}

function checkTags(tags: Tags): void {
  for (const [name, value] of Object.entries(tags)) {
    if (!isTagName(name)) refuse("invalid", "tags: a name must be 1 to 32 of a to z, 0 to 9 and _");
    if (!isTagValue(value)) {
      refuse("invalid", `tags.${name}: must be 1 to 128 characters, neither commas nor control characters`);
    }
  }
}
