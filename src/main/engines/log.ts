import type { MessagePort } from "node:worker_threads";
import { EmbeddedEventStore, openEmbeddedEventStore } from "../../../packages/embedded-engine/src/index.ts";
import { JsonEventCodec } from "../../engines/event-codec/event-codec.ts";
import type { EventLog, EventStore } from "../../kernel/ports/event-store.ts";
import type { Instruments } from "../../kernel/ports/telemetry.ts";
import { asSaidBy } from "../variable-problem.ts";
import { repeatedProblem } from "./repeated-problem.ts";
import type { EngineSettings, WatchedEngine } from "./settings.ts";

/** How another thread of this process reaches the log. */
export type LogLink =
  | { readonly engine: "embedded"; readonly port: MessagePort }
  | { readonly engine: "eventstoredb"; readonly url: string };

/** The opened event store. */
export interface OpenLog {
  readonly store: EventStore;
  /** The log over a connection of its own, ahead of all that the store carries. */
  readonly tail: EventLog;
  readonly engine: WatchedEngine;
  /** Whether other processes may use it, too. */
  readonly shared: boolean;
  /** A link for another thread; its port is to be transferred. */
  readonly link: () => LogLink;
  /** Erases deleted bytes from this process's own files; does nothing for an outside engine. */
  readonly scrub: () => Promise<void>;
  /** Resolves when handlers have finished and the log is closed. */
  readonly close: () => Promise<void>;
}

const subscription = {
  kind: "subscription",
  first: "a subscription to the log failed and is tried again",
  more: "subscriptions to the log failed again",
} as const;
const housekeeping = {
  kind: "housekeeping",
  first: "housekeeping of the log keeps failing and is tried again",
  more: "housekeeping of the log failed again",
} as const;

type LogSettings = Instruments & Pick<EngineSettings, "config" | "onFatal">;

/** Opens the event store that the configuration asks for. */
export function openLog(settings: LogSettings): Promise<OpenLog> {
  const { eventStore } = settings.config;
  if (eventStore.engine === "embedded") return asSaidBy("RELAY_DATA_DIR", () => openEmbedded(settings));
  return openOutside(settings, eventStore.url);
}

/** Opens the event store in another thread. */
export async function joinLog(link: LogLink, use: Instruments): Promise<EventStore & { close(): Promise<void> }> {
  return link.engine === "embedded"
    ? EmbeddedEventStore.attach(link.port, clientOptions(use))
    : connectEventStoreDb(link.url, use);
}

function clientOptions(use: Instruments) {
  return { codec: new JsonEventCodec(), clock: use.clock, onAnomaly: repeatedProblem(use, subscription) };
}

/** The driver is loaded only now: it takes a second, and memory. */
async function connectEventStoreDb(url: string, use: Instruments) {
  const { EventStoreDb } = await import("../../engines/eventstoredb/event-store-db.ts");
  return new EventStoreDb({ url, ...clientOptions(use) });
}

async function openEmbedded(settings: LogSettings): Promise<OpenLog> {
  const { config: { dataDir }, onFatal } = settings;
  const onHousekeepingProblem = repeatedProblem(settings, housekeeping);
  const store = await openEmbeddedEventStore({ ...clientOptions(settings), dataDir, onFatal, onHousekeepingProblem });
  return {
    store,
    tail: store,
    engine: { name: "log", awayText: notWritten, ping: () => store.ping() },
    shared: false,
    link: () => ({ engine: "embedded", port: store.connect() }),
    scrub: () => store.scrub(),
    close: () => store.close(),
  };
}

/** Known causes, by their names in errors of Node and SQLite; the errors' own texts could name a path. */
const causes: readonly (readonly [RegExp, string])[] = [
  [/ENOSPC|disk is full/, ": no space left"],
  [/EIO|disk I\/O error/, ": I/O error"],
];

function notWritten(reason: unknown): string {
  const known = causes.find(([called]) => called.test(String(reason)));
  return `the log cannot be written${known?.[1] ?? ""}`;
}

async function openOutside(settings: LogSettings, url: string): Promise<OpenLog> {
  const store = await asSaidBy("RELAY_EVENTSTOREDB_URL", () => connectEventStoreDb(url, settings));
  const tail = await connectEventStoreDb(url, settings);
  return {
    store,
    tail,
    engine: { name: "EventStoreDB", ping: () => store.ping(), answeredAt: () => store.answeredAt },
    shared: true,
    link: () => ({ engine: "eventstoredb", url }),
    // The server's own scavenge does it.
    scrub: async () => undefined,
    close: async () => {
      await Promise.all([store.close(), tail.close()]);
    },
  };
}
