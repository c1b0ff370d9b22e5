import { eventStatuses } from "../../src/features/events/facts.ts";
import { timestamp } from "../../src/kernel/domain/time.ts";
import { chanceFrom } from "../../test/support/chance.ts";
import { storedEventId } from "./course.ts";
import type { DataSet } from "./data-set.ts";
import { acceptedMs, destinationCount, eventRecipe, tenantCount } from "./recipe.ts";

/** A list of events to be asked for: of any set, since places in time are shares of its thirty days. */
export interface ListQuestion {
  readonly tenant: number;
  readonly destination: number | null;
  readonly status: string | null;
  readonly from: number | null;
  readonly to: number | null;
  readonly field: "acceptedAt" | "id";
  readonly direction: "Asc" | "Desc";
  readonly quantity: number;
  readonly page: number;
}

/** One event to be asked for, by its place among the others. */
export interface GetQuestion {
  readonly place: number;
}

const seed = 7;
const quantities = [10, 20, 50, 100];
const lastPage = 100;

/** As many lists and gets, the same ones for the same round. */
export function questionsOf(
  round: number, count: number,
): { readonly lists: readonly ListQuestion[]; readonly gets: readonly GetQuestion[] } {
  const chance = chanceFrom(seed + round);
  const below = (bound: number) => Math.floor(chance() * bound);
  const list = (): ListQuestion => {
    const [one, other] = [chance(), chance()];
    const timed = chance() < 0.5;
    return {
      tenant: below(tenantCount),
      destination: chance() < 0.5 ? below(destinationCount) : null,
      status: chance() < 0.5 ? eventStatuses[below(eventStatuses.length)]! : null,
      from: timed ? Math.min(one, other) : null,
      to: timed ? Math.max(one, other) : null,
      field: chance() < 0.5 ? "acceptedAt" : "id",
      direction: chance() < 0.5 ? "Asc" : "Desc",
      quantity: quantities[below(quantities.length)]!,
      page: 1 + below(lastPage),
    };
  };
  return {
    lists: Array.from({ length: count }, list),
    gets: Array.from({ length: count }, () => ({ place: chance() })),
  };
}

/** The question with a full page that is there, where a list has `total` items: the last one, or a shorter one. */
export function within(question: ListQuestion, total: number): ListQuestion {
  const quantity = Math.max(1, Math.min(question.quantity, total));
  return { ...question, quantity, page: Math.max(1, Math.min(question.page, Math.floor(total / quantity))) };
}

/** The path to ask a relay on this set for, and as the owner of which tenant. */
export function listPath(question: ListQuestion, { events, tenants }: DataSet): string {
  const { destination, status, from, to, field, direction, quantity, page } = question;
  const at = (share: number) => timestamp(acceptedMs(share * events, events));
  const query = new URLSearchParams({
    Qt: String(quantity), Pg: String(page), CpOrd: field, TpOrd: direction,
    ...(destination !== null && { DestinationUrlId: tenants[question.tenant]!.destinations[destination]!.id }),
    ...(status !== null && { Status: status }),
    ...(from !== null && { From: at(from) }),
    ...(to !== null && { To: at(to) }),
  });
  return `/api/v1/events?${query.toString()}`;
}

/** The same for one event: whose it is follows from its place. */
export function getPath(
  { place }: GetQuestion, { events, tenants }: DataSet,
): { readonly tenant: number; readonly path: string } {
  const recipe = eventRecipe(Math.floor(place * events), events);
  return { tenant: recipe.tenant, path: `/api/v1/events/${storedEventId(recipe, tenants[recipe.tenant]!)}` };
}
