import { setTimeout as pause } from "node:timers/promises";
import { SqliteExpiringState } from "../../packages/embedded-engine/src/index.ts";
import { collections, fingerprint } from "../../projections/index.ts";
import { SystemIds } from "../../src/engines/system/system-ids.ts";
import type { WebhookEvent } from "../../src/features/events/facts.ts";
import { isPurged, type Purge, evolve, type PurgesEvent } from "../../src/features/purges/facts.ts";
import { Purger } from "../../src/features/purges/worker.ts";
import type { Timer } from "../../src/kernel/ports/clock.ts";
import { logStart, type EventStore, type RecordedEvent } from "../../src/kernel/ports/event-store.ts";
import { ReadModelsUnavailable, type Change, type PositionedChanges } from "../../src/kernel/ports/read-models.ts";
import type { ProjectionRunner } from "../../src/projector/projection-runner.ts";
import { startApi, type TestApi } from "./api.ts";
import { TestClock } from "./api-engines.ts";
import { http } from "./http.ts";
import { InMemoryEventStore } from "./in-memory-event-store.ts";
import { InMemoryReadModels } from "./in-memory-read-models.ts";
import { Deliveries } from "./outcomes.ts";
import { projectorOf } from "./projector.ts";
import { quiet, uncounted } from "./telemetry.ts";

/** Read models whose writes may fail, before or after they took effect, or be held up. */
class FailingReadModels extends InMemoryReadModels {
  readonly failures: ("before" | "after")[] = [];
  /** How many amendments fail from now on. */
  failingAmends = 0;
  /** Amendments wait for this promise. */
  held: Promise<void> = Promise.resolve();
  /** Whether others are being built to take their place. */
  areReplaced = false;
  /** Called before each sum, and before a count learns whether the read models stood still. */
  beforeSum: () => Promise<void> = async () => undefined;
  whenCounted: () => Promise<void> = async () => undefined;

  override async sum(...[scope, from, to]: Parameters<InMemoryReadModels["sum"]>): Promise<number> {
    await this.beforeSum();
    return super.sum(scope, from, to);
  }

  override async standsAt(checkpoint: string): Promise<boolean> {
    const stands = await super.standsAt(checkpoint);
    await this.whenCounted();
    return stands;
  }

  override async settle(fingerprint: string): Promise<boolean> {
    return !this.areReplaced && (await super.settle(fingerprint));
  }

  override apply(batch: readonly PositionedChanges[], checkpoint: string): Promise<void> {
    return this.#perhaps(() => super.apply(batch, checkpoint));
  }

  override async amend(changes: readonly Change[]): Promise<void> {
    await this.held;
    if (this.failingAmends > 0) {
      this.failingAmends -= 1;
      throw new ReadModelsUnavailable("down");
    }
    return this.#perhaps(() => super.amend(changes));
  }

  async #perhaps(write: () => Promise<void>): Promise<void> {
    const failure = this.failures.shift();
    if (failure === "before") throw new ReadModelsUnavailable("down");
    await write();
    if (failure === "after") throw new ReadModelsUnavailable("no answer");
  }
}

/** Timers end within 1 ms. */
class HurriedClock extends TestClock {
  override schedule(delayMs: number, task: () => void): Timer {
    return super.schedule(Math.min(delayMs, 1), task);
  }
}

/** A log that notes deletions of streams whose event no purge took. */
class GuardedEventStore extends InMemoryEventStore {
  deleted = 0;
  /** Called before each deletion. */
  beforeDelete: (stream: string) => Promise<void> = async () => undefined;

  override async deleteStream(...[stream, ...how]: Parameters<EventStore["deleteStream"]>): Promise<void> {
    await this.beforeDelete(stream);
    const facts = await this.readStream(stream);
    await super.deleteStream(stream, ...how);
    if (facts.length === 0) return;
    this.deleted += 1;
    const purges = await this.purges();
    const taken = isPurged(purges, facts as readonly RecordedEvent<WebhookEvent>[]);
    if (!taken) this.wronged.push(stream);
  }

  /** Streams deleted though no purge took their event. */
  readonly wronged: string[] = [];

  /** Every purge there ever was. */
  async purges(): Promise<readonly Purge[]> {
    const { entries } = await this.readLog(logStart, 1_000_000);
    return entries.flatMap((entry) => {
      if (entry.unreadable !== undefined || entry.type !== "EventsPurged") return [];
      return evolve(undefined, entry as RecordedEvent<PurgesEvent>, entry.position).underWay.slice(-1);
    });
  }
}

/** For steps that are never asked to stop. */
export const never = () => false;

/** A relay without its timers: the test starts the work in the background. */
export class ManualRelay {
  readonly clock = new HurriedClock();
  readonly store = new GuardedEventStore();
  readonly models = new FailingReadModels();
  api!: TestApi;
  purger!: Purger;
  deliveries!: Deliveries;
  #runner = this.newRunner(this.models);
  #restarted: Promise<void> = Promise.resolve();

  static async open(): Promise<ManualRelay> {
    const relay = new ManualRelay();
    const { clock, store, models: readModels } = relay;
    await readModels.reset(collections, fingerprint);
    const state = new SqliteExpiringState(":memory:", clock);
    const masterKey = new SystemIds().secretBytes(32);
    relay.api = await startApi({ clock, store, readModels, state, masterKey, close: () => state.close() });
    relay.deliveries = new Deliveries(relay.api.world);
    relay.newPurger();
    relay.#runner.start();
    return relay;
  }

  /** Posts an event; resolves to its id. */
  async accept(
    { path, apiKey }: { readonly path: string; readonly apiKey: string },
    headers: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const answer = await http("POST", this.api.url + path, { json: {}, headers: { "x-api-key": apiKey, ...headers } });
    return String(answer.json["eventId"]);
  }

  newPurger(): void {
    this.purger = new Purger({ ...this.api.world, logger: quiet, metrics: uncounted });
  }

  newRunner(models: InMemoryReadModels): ProjectionRunner {
    const { store: log, clock } = this;
    return projectorOf({ log, models, clock });
  }

  /** As after a crash: entries that the read models lack are projected again. One at a time: one runner is left. */
  restartRunner(): Promise<void> {
    this.#restarted = this.#restarted.then(() => this.stopRunner()).then(() => this.startRunner());
    return this.#restarted;
  }

  stopRunner(): Promise<void> {
    return this.#runner.stop();
  }

  startRunner(): void {
    this.#runner = this.newRunner(this.models);
    this.#runner.start();
  }

  /** Resolves when the read models cover the log; purges may still have events to remove. */
  async drained(): Promise<void> {
    await this.#runner.drained(await this.store.head());
  }

  /** Resolves when every purge of the log hides its events in the read models. */
  async hidden(): Promise<void> {
    await this.drained();
    while ((await this.models.count({ collection: "purges", where: { hiding: true } })) > 0) await pause(1);
  }

  /** Resolves when no completed purge is left in the read models, which may be later than they cover the log. */
  async forgotten(): Promise<void> {
    while ((await this.models.count({ collection: "purges", where: { completed: true } })) > 0) await pause(1);
  }

  /** Resolves when all background work is done. */
  async settle(): Promise<void> {
    for (;;) {
      await this.drained();
      if (await this.purger.step(never)) continue;
      if ((await this.models.count({ collection: "purges" })) === 0) return;
      await pause(1);
    }
  }

  /** The contents of read models that are rebuilt from the log. */
  async rebuilt(): Promise<ReturnType<InMemoryReadModels["contents"]>> {
    const models = new InMemoryReadModels();
    await models.reset(collections, fingerprint);
    await this.newRunner(models).rebuild();
    return models.contents();
  }

  async close(): Promise<void> {
    await this.#runner.stop();
    await this.api.close();
  }
}
