import type { Caller } from "../../kernel/callers/caller.ts";
import { Refusal, refuse } from "../../kernel/domain/refusal.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import type { EventCommands, MakeRoom } from "../events/commands.ts";
import { asEvent, type FoundEventView } from "./messages.ts";
import type { MessageQueries } from "./queries.ts";

/** Acts on an event that are acts on each delivery of a message, too. */
type Act = "replay" | "resend" | "cancel";

const done: Readonly<Record<Act, string>> = { replay: "replayed", resend: "resent", cancel: "cancelled" };

/** Acts on an event, or on the deliveries of a message. */
export class EventOrMessageCommands {
  readonly #parts;

  constructor(parts: { readonly events: EventCommands; readonly messages: MessageQueries }) {
    this.#parts = parts;
  }

  /** Acts on the event, or on every delivery that allows it. Throws a Refusal. */
  async act(act: Act, caller: Caller, id: string, origin: Origin, makeRoom?: MakeRoom): Promise<FoundEventView> {
    const { events, messages } = this.#parts;
    try {
      return await events[act](caller, id, origin, makeRoom);
    } catch (error) {
      if (!isOf(error, "not-found")) throw error;
      const message = await messages.find(caller, id);
      if (!message) throw error;
      let acted = 0;
      for (const { eventId } of message.deliveries) {
        if (await allowed(() => events[act](caller, eventId, origin))) acted += 1;
      }
      if (acted === 0) refuse("invalid", `none of the message's deliveries can be ${done[act]}`);
      return asEvent(await messages.get(caller, id));
    }
  }
}

async function allowed(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (isOf(error, "invalid", "rejected", "not-found")) return false;
    throw error;
  }
}

function isOf(error: unknown, ...kinds: readonly Refusal["kind"][]): boolean {
  return error instanceof Refusal && kinds.includes(error.kind);
}
