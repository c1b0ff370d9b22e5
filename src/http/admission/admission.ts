import { CallerGone } from "../../kernel/callers/caller.ts";
import type { Operation } from "../../kernel/operations/operation.ts";
import type { Clock } from "../../kernel/ports/clock.ts";
import { Places, type Asker, type Leave } from "./places.ts";

/** Places of each kind: what is under way at once. */
const places = { plain: 64, large: 16 } as const;

/** A plain request takes a moment. A large one may read much of the log, or answer with much. */
export type Weight = keyof typeof places;

/** Admits the requests of signed-in callers. Plain requests never wait for large ones. */
export class Admission {
  readonly #places: Readonly<Record<Weight, Places>>;

  constructor(clock: Pick<Clock, "schedule">) {
    this.#places = { plain: new Places(clock, places.plain), large: new Places(clock, places.large) };
  }

  /**
   * Resolves once it is the request's turn. A large request whose caller has gone is seen before: in the turn of the
   * event loop in which it came, the end of its connection may be still unread. Rejects as {@link Places.enter} does.
   */
  async enter(weight: Weight, asker: Asker, gone: () => AbortSignal): Promise<Leave> {
    if (weight === "large") {
      await new Promise((resolve) => setImmediate(resolve));
      if (gone().aborted) throw new CallerGone();
    }
    return this.#places[weight].enter(asker, gone);
  }
}

/** The weight of a request: a read of the past may decode much of the log, whatever its operation. */
export function weightOf({ isLarge }: Pick<Operation, "isLarge">, query: string): Weight {
  return isLarge || new URLSearchParams(query).has("AsOf") ? "large" : "plain";
}
