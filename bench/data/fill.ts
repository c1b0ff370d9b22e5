import { openEmbeddedEventStore, type EmbeddedEventStore } from "../../packages/embedded-engine/src/index.ts";
import { JsonEventCodec } from "../../src/engines/event-codec/event-codec.ts";
import { SystemClock } from "../../src/engines/system/system-clock.ts";
import type { Appended } from "../../src/kernel/ports/event-store.ts";
import type { TenantRecord } from "../support/relay.ts";
import { SeededIds } from "./chance.ts";
import { Course, storedEventId, type Append } from "./course.ts";
import { eventRecipe, maxTrys, numberAt, type EventRecipe } from "./recipe.ts";

/** Events whose facts are handed to the store in one turn, and how many such turns it may be behind. */
const eventsATurn = 500;
const turnsAhead = 8;
const idsSeed = 1;
/** Longer than a thousand attempts take by the schedule, so that the last of them is over and newer than the set. */
const longAgoMs = 220 * 86_400_000;

/**
 * Appends the facts about events to the log of a relay that is not running, in the order in which the relay would have
 * appended them. Returns the number of facts.
 */
export async function fillLog(
  dataDir: string, tenants: readonly TenantRecord[], events: number, onProgress: (done: number) => void,
): Promise<number> {
  const store = await openLog(dataDir);
  const parts = { tenants, ids: new SeededIds(idsSeed), maxTrys };
  /** Events whose next step comes just before the event of this number is accepted. */
  const later = new Map<number, { readonly course: Course; readonly dueMs: number }[]>();
  const turns: Promise<unknown>[] = [];
  let turn: Promise<Appended>[] = [];
  let facts = 0;

  const append = ({ stream, expected, entries }: Append) => {
    facts += entries.length;
    turn.push(store.append(stream, expected, entries));
  };
  const go = (course: Course, now: number) => {
    for (let dueMs = course.dueMs(); dueMs !== undefined; dueMs = course.dueMs()) {
      const number = numberAt(dueMs, events);
      if (number > now) {
        const others = later.get(number);
        if (others) others.push({ course, dueMs });
        else later.set(number, [{ course, dueMs }]);
        return;
      }
      course.step(dueMs).forEach(append);
    }
  };
  const resume = (number: number) => {
    for (const { course, dueMs } of later.get(number) ?? []) {
      course.step(dueMs).forEach(append);
      go(course, number);
    }
    later.delete(number);
  };

  for (let number = 0; number < events; number += 1) {
    resume(number);
    const course = new Course(eventRecipe(number, events), parts);
    append(course.accept());
    // Immediate steps of this event come before the next event.
    go(course, number + 1);
    if ((number + 1) % eventsATurn > 0) continue;
    turns.push(Promise.all(turn));
    turn = [];
    if (turns.length > turnsAhead) await turns.shift();
    onProgress(number + 1);
  }
  // The last events still have steps after the last acceptance.
  for (let number = events; later.size > 0; number = Math.min(...later.keys())) resume(number);
  await Promise.all([...turns, ...turn]);
  await store.close();
  return facts;
}

/**
 * Appends an event that was given up not long ago, after so many attempts at a tenant's first destination, to the log
 * of a relay that is not running. Returns its id.
 */
export async function addGivenUp(dataDir: string, tenant: TenantRecord, attempts: number): Promise<string> {
  const recipe: EventRecipe = {
    number: 0, tenant: 0, destination: 0, idempotencyKey: "given-up", acceptedMs: Date.now() - longAgoMs,
    steps: Array.from({ length: attempts }, () => "status"), chance: () => 0.5,
  };
  const store = await openLog(dataDir);
  const course = new Course(recipe, { tenants: [tenant], ids: new SeededIds(idsSeed + 1), maxTrys: attempts });
  const append = ({ stream, expected, entries }: Append) => store.append(stream, expected, entries);
  await append(course.accept());
  for (let dueMs = course.dueMs(); dueMs !== undefined; dueMs = course.dueMs()) {
    for (const facts of course.step(dueMs)) await append(facts);
  }
  await store.close();
  return storedEventId(recipe, tenant);
}

/** Opens the log of a relay that is not running, for more appends than a relay would wait for. */
export function openLog(dataDir: string): Promise<EmbeddedEventStore> {
  const tuning = { timeoutMs: 600_000 };
  return openEmbeddedEventStore({ dataDir, codec: new JsonEventCodec(), clock: new SystemClock(), tuning });
}
