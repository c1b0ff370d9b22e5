import type { MessagePort } from "node:worker_threads";
import { EmbeddedEventStore, openEmbeddedEventStore } from "../../../packages/embedded-engine/src/index.ts";
import { JsonEventCodec } from "../../engines/event-codec/event-codec.ts";
import type { EventStore } from "../../kernel/ports/event-store.ts";
import type { Instruments, Anomaly } from "../../kernel/ports/telemetry.ts";
import { LogThrottle } from "../../kernel/tools/log-throttle.ts";
import { namingVariable } from "../config/variables.ts";
import type { EngineSettings, WatchedEngine } from "./settings.ts";

/** How another thread of this process reaches the log. */
export type LogLink =
  | { readonly engine: "embedded"; readonly port: MessagePort }
  | { readonly engine: "eventstoredb"; readonly url: string };

/** The opened event store. */
export interface OpenLog {
  readonly store: EventStore;
  readonly engine: WatchedEngine;
  readonly shared: boolean;
  /** A link for another thread, to which its port must be transferred. */
  readonly link: () => LogLink;
  readonly scrub: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A recurring anomaly with the log lines for the first error of a reason and for later ones. */
interface RepeatedTrouble {
  readonly kind: Anomaly;
  readonly first: string;
  readonly more: string;
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

/** Known causes by Node's and SQLite's names. The text of an error could name a path. */
const causes: readonly (readonly [RegExp, string])[] = [
  [/ENOSPC|disk is full/, ": no space left"],
  [/EIO|disk I\/O error/, ": I/O error"],
];

type LogSettings = Instruments & Pick<EngineSettings, "config" | "onFatal">;

/** Opens the configured event store. */
export function openLog(settings: LogSettings): Promise<OpenLog> {
  const { eventStore } = settings.config;
  if (eventStore.engine === "embedded") return namingVariable("RELAY_DATA_DIR", () => openEmbedded(settings));
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

/** Loads the driver late: it takes a second, and memory. */
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
    engine: { name: "log", awayText: notWritten, ping: () => store.ping() },
    shared: false,
    link: () => ({ engine: "embedded", port: store.connect() }),
    scrub: () => store.scrub(),
    close: () => store.close(),
  };
}

function notWritten(reason: unknown): string {
  const known = causes.find(([called]) => called.test(String(reason)));
  return `the log cannot be written${known?.[1] ?? ""}`;
}

async function openOutside(settings: LogSettings, url: string): Promise<OpenLog> {
  const store = await namingVariable("RELAY_EVENTSTOREDB_URL", () => connectEventStoreDb(url, settings));
  return {
    store,
    engine: { name: "EventStoreDB", ping: () => store.ping(), answeredAt: () => store.answeredAt },
    shared: true,
    link: () => ({ engine: "eventstoredb", url }),
    // A scavenge of the server erases them.
    scrub: async () => undefined,
    close: () => store.close(),
  };
}

/** A listener that counts each error as the anomaly, and throttles its log lines. */
export function repeatedProblem(
  { clock, logger, metrics }: Instruments, { kind, first, more }: RepeatedTrouble,
): (error: unknown) => void {
  const logThrottle = new LogThrottle(clock);
  return (error) => {
    metrics.anomaly(kind);
    logThrottle.tell(
      String(error),
      () => logger.warn({ err: error }, first),
      (reason, times) => logger.warn({ reason, times }, more),
    );
  };
}
