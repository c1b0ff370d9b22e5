import type { Inputs } from "../../../schemas/api.ts";
import createSender from "../../../schemas/requests/create-sender.json" with { type: "json" };
import { existing, ownOf, requireOwn } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { cleanName } from "../../kernel/callers/input-rules.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { requireRole } from "../../kernel/domain/roles.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import { fieldsOf } from "../../kernel/read-models/fields-of.ts";
import { secretToken, sha256 } from "../../kernel/tools/hashing.ts";
import { destinations, type Destination } from "../destinations/facts.ts";
import { checkedMapping } from "../mappings.ts";
import type { SubscriptionCommands } from "../subscriptions/commands.ts";
import { decide, fanOutOnly, fanOutSettings, noDestination, type SenderCommand } from "./decide.ts";
import { senders, problemOfSearchFields, type SearchField, type Sender } from "./facts.ts";
import type { SenderView, SenderQueries } from "./queries.ts";

/** Commands on senders. */
export class SenderCommands {
  readonly #parts;

  constructor(
    parts: Pick<KernelParts, "aggregates" | "mappings" | "clock" | "ids">
      & { readonly queries: SenderQueries; readonly subscriptions: SubscriptionCommands },
  ) {
    this.#parts = parts;
  }

  /** Creates a sender; its ingest token is shown only here. Throws a Refusal (invalid, not-found, forbidden). */
  async create(
    caller: Caller,
    input: Inputs["createSender"],
    origin: Origin,
  ): Promise<SenderView & { readonly ingestToken: string }> {
    const { aggregates, queries, mappings, ids, clock } = this.#parts;
    const { tenantId } = caller;
    const {
      name: text, mapping: given, searchFields: fields, eventTypePath, unmatched,
      destinationUrlId: _to, fanOut: _fanOut, ...others
    } = fieldsOf(createSender, input);
    const destinationId = checkedTarget(input);
    const name = cleanName("name", text);
    const mapping = given && (await checkedMapping(mappings, tenantId, given));
    const searchFields = checkedFields(fields);
    if (destinationId !== null) requireOwn(await this.#destination(destinationId), caller, "destination");
    requireRole(caller, "Developer", "create senders");
    const senderId = ids.uuid();
    const ingestToken = this.#newToken();
    const sender = { senderId, tenantId, name, mapping, ingestTokenHash: sha256(ingestToken), searchFields, ...others };
    const at = timestampNow(clock);
    const command: SenderCommand = destinationId === null
      ? { type: "CreateFanOutSender", sender: { ...sender, eventTypePath, unmatched: unmatched ?? "accept" }, at }
      : { type: "CreateSender", sender: { ...sender, destinationId }, at };
    await aggregates.change(senders, senderId, origin, (state) => decide(state, command));
    return { ...(await queries.get(caller, senderId)), ingestToken };
  }

  async change(caller: Caller, id: string, input: Inputs["updateSender"], origin: Origin): Promise<SenderView> {
    const { aggregates, queries, mappings, clock } = this.#parts;
    const name = input.name === undefined ? undefined : cleanName("name", input.name);
    const mapping = input.mapping && (await checkedMapping(mappings, caller.tenantId, input.mapping));
    const searchFields = input.searchFields === undefined ? undefined : checkedFields(input.searchFields);
    const destinationId = input.destinationUrlId?.toLowerCase();
    const sender = await existing(aggregates, senders, id, "sender");
    const destination = destinationId === undefined ? undefined : await this.#destination(destinationId);
    requireOwn(sender, caller, "sender");
    if (destination) requireOwn(destination, caller, "destination");
    requireRole(caller, "Developer", "change senders");
    const active = input.status && input.status === "active";
    const at = timestampNow(clock);
    const unmatched = input.unmatched === null && sender.fanOut ? "accept" : input.unmatched;
    const settings = { ...fieldsOf(createSender, input), name, destinationId, mapping, searchFields, unmatched };
    const command: SenderCommand = { type: "ChangeSender", ...settings, active, at };
    await aggregates.change(senders, id, origin, (state) => decide(state, command));
    return queries.get(caller, id);
  }

  async regenerateToken(caller: Caller, id: string, origin: Origin): Promise<string> {
    await this.#own(caller, id, "regenerate ingest tokens");
    const ingestToken = this.#newToken();
    const command: SenderCommand = {
      type: "RegenerateIngestToken",
      ingestTokenHash: sha256(ingestToken),
      at: timestampNow(this.#parts.clock),
    };
    await this.#parts.aggregates.change(senders, id, origin, (state) => decide(state, command));
    return ingestToken;
  }

  async remove(caller: Caller, id: string, origin: Origin): Promise<void> {
    const { aggregates, subscriptions, clock } = this.#parts;
    const { fanOut } = await this.#own(caller, id, "delete senders");
    const command: SenderCommand = { type: "DeleteSender", at: timestampNow(clock) };
    await aggregates.change(senders, id, origin, (state) => decide(state, command));
    if (fanOut) await subscriptions.removeAll(caller, { senderId: id }, origin);
  }

  async #own(caller: Caller, id: string, to: string): Promise<Sender> {
    const sender = await ownOf(this.#parts.aggregates, senders, id, caller, "sender");
    requireRole(caller, "Developer", to);
    return sender;
  }

  #destination(id: string): Promise<Destination> {
    return existing(this.#parts.aggregates, destinations, id, "destinationUrlId: destination");
  }

  #newToken(): string {
    return secretToken(this.#parts.ids, "sndr_");
  }
}

/** The destination of a new sender; null if it fans out. Throws a Refusal (invalid). */
function checkedTarget(
  { fanOut, destinationUrlId, ...settings }: Inputs["createSender"],
): string | null {
  if (fanOut) return destinationUrlId === undefined ? null : refuse("invalid", `destinationUrlId: ${noDestination}`);
  const alien = fanOutSettings.find((name) => settings[name] !== null);
  if (alien !== undefined) refuse("invalid", `${alien}: ${fanOutOnly}`);
  return destinationUrlId?.toLowerCase() ?? refuse("invalid", "destinationUrlId: is required, unless fanOut is true");
}

function checkedFields(fields: readonly SearchField[] | null): readonly SearchField[] {
  const problem = problemOfSearchFields(fields ?? []);
  if (problem !== null) refuse("invalid", problem);
  return (fields ?? []).map(({ name, path }) => ({ name, path }));
}
