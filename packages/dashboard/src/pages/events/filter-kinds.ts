import type { OperationId } from "@webhook-relay/client";
import type { Search } from "../../app/search.ts";
import { statusWord } from "../../parts/status-words.ts";
import { momentText, type Zone } from "../../parts/times.ts";
import { listed } from "./filters.ts";

/** The names that a filter's text needs. */
export interface FilterWords {
  /** The name of a destination or sender, from its id. */
  readonly nameOf: (id: string) => string;
  readonly zone: Zone;
}

/** A filter of the list: a chip, and a menu that sets its parameters. */
export interface FilterKind {
  readonly title: string;
  /** Its parameters in the address. */
  readonly names: readonly string[];
  /** An operation that the filter needs. */
  readonly needs?: OperationId;
  /** Whether its chip is there without a value. */
  readonly isUsual?: boolean;
  /** An example, for a filter that is a text. */
  readonly example?: string;
  /** The value for people; undefined without one. */
  readonly text: (search: Search, words: FilterWords) => string | undefined;
}

function textOf(name: string): FilterKind["text"] {
  return (search) => search[name];
}

function nameOf(name: string): FilterKind["text"] {
  return (search, words) => search[name] === undefined ? undefined : words.nameOf(search[name]).replace("https://", "");
}

function periodText(from: string | undefined, to: string | undefined, zone: Zone): string | undefined {
  const short = (at: string) => Number.isNaN(Date.parse(at)) ? at : momentText(at, zone).slice("2026-".length, -7);
  if (from !== undefined && to !== undefined) return `${short(from)} – ${short(to)}`;
  return from !== undefined ? `since ${short(from)}` : to === undefined ? undefined : `until ${short(to)}`;
}

/** All filters of the list, in the order of their chips. */
export const filterKinds: readonly FilterKind[] = [
  {
    title: "Status", names: ["Status"], isUsual: true,
    text: ({ Status }) => {
      const all = listed(Status).map(statusWord);
      return all.length === 0 ? undefined : all.length > 2 ? `${all.length} statuses` : all.join(", ");
    },
  },
  { title: "Destination", names: ["DestinationUrlId"], isUsual: true, text: nameOf("DestinationUrlId") },
  {
    title: "Accepted", names: ["From", "To"], isUsual: true,
    text: ({ From, To }, { zone }) => periodText(From, To, zone),
  },
  { title: "Type", names: ["EventType"], isUsual: true, example: "order.paid", text: textOf("EventType") },
  { title: "Key", names: ["IdempotencyKey"], example: "order-4711", text: textOf("IdempotencyKey") },
  { title: "Tags", names: ["Tag"], example: "order:4711, shop:7", text: textOf("Tag") },
  { title: "Owner", names: ["OwnerId"], example: "customer-12", text: textOf("OwnerId") },
  { title: "Sender", names: ["SenderId"], needs: "listSenders", text: nameOf("SenderId") },
  {
    title: "Payload", names: ["Text", "Pointer", "Value"], needs: "searchEvents",
    text: ({ Text, Pointer, Value }) => Text !== undefined ? `“${Text}”`
      : Pointer === undefined ? undefined : `${Pointer} is ${Value ?? ""}`,
  },
  {
    title: "Test events", names: ["Test"],
    text: ({ Test }) => Test === undefined ? undefined : Test === "true" ? "only" : "left out",
  },
  { title: "Request", names: ["CorrelationId"], example: "a request's id", text: textOf("CorrelationId") },
  { title: "Replay", names: ["ReplayId"], needs: "listReplays", example: "a replay's id", text: textOf("ReplayId") },
  {
    title: "Finished", names: ["FinishedFrom", "FinishedTo"],
    text: ({ FinishedFrom, FinishedTo }, { zone }) => periodText(FinishedFrom, FinishedTo, zone),
  },
  {
    title: "Message", names: ["MessageId"], needs: "listMessages", example: "a message's id", text: textOf("MessageId"),
  },
];

/** The change of an address that takes a filter out of it. */
export function without({ names }: FilterKind): Search {
  return Object.fromEntries(names.map((name) => [name, undefined]));
}
