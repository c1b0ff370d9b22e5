import { expect } from "chai";
import fc from "fast-check";
import { loadWebhook } from "../../../src/features/events/webhooks.ts";
import { isPurged } from "../../../src/features/purges/facts.ts";
import { Refusal } from "../../../src/kernel/domain/refusal.ts";
import { RevisionConflict } from "../../../src/kernel/ports/event-store.ts";
import { createTenant, openIngest } from "../../support/accounts.ts";
import { http } from "../../support/http.ts";
import { withoutMoments } from "../../support/in-memory-read-models.ts";
import { ManualRelay, never } from "../../support/manual-relay.ts";
import { sized } from "../../support/size.ts";

interface Step {
  readonly action: string;
  readonly which: number;
  readonly number: number;
  /** Whether it happens at the same time as the step before. */
  readonly joined: boolean;
}

type Tenant = Awaited<ReturnType<typeof createTenant>>;
type Target = Awaited<ReturnType<typeof openIngest>>;

const eventCount = 5;
const finished = ["Succeeded", "CriticalFailure", "Cancelled", undefined] as const;

/** Actions on a few events and their purges; refusals are ignored. */
class Play {
  readonly #relay: ManualRelay;
  readonly #tenant: Tenant;
  readonly #targets: readonly Target[];
  /** By idempotency key, the id of the event that was accepted last. */
  readonly #ids = new Map<string, string>();
  readonly #everyId = new Set<string>();

  constructor(relay: ManualRelay, tenant: Tenant, targets: readonly Target[]) {
    this.#relay = relay;
    this.#tenant = tenant;
    this.#targets = targets;
  }

  static async begin(relay: ManualRelay): Promise<Play> {
    const tenant = await createTenant(relay.api.url);
    const { owner, tenantId } = tenant;
    const targets = [await openIngest(owner.client, tenantId), await openIngest(owner.client, tenantId)];
    return new Play(relay, tenant, targets);
  }

  readonly actions: Readonly<Record<string, (step: Step) => Promise<unknown>>> = {
    accept: async ({ which, number }) => {
      const { path, apiKey } = this.#targets[number % 2] as Target;
      const headers = { "x-api-key": apiKey, "x-idempotency-key": keyOf(which) };
      const { json } = await http("POST", this.#relay.api.url + path, { json: { number }, headers });
      const id = json["eventId"];
      if (typeof id !== "string") return;
      this.#ids.set(keyOf(which), id);
      this.#everyId.add(id);
    },
    acceptAndSucceed: async (step) => {
      await this.actions["accept"]?.(step);
      await this.actions["succeed"]?.(step);
    },
    acceptAndFail: async (step) => {
      await this.actions["accept"]?.(step);
      await this.actions["fail"]?.(step);
    },
    acceptAndSucceedLate: async (step) => {
      await this.actions["accept"]?.(step);
      await this.#relay.deliveries.succeedLate(this.#id(step.which));
    },
    succeed: ({ which }) => this.#relay.deliveries.succeed(this.#id(which)),
    fail: ({ which }) => this.#relay.deliveries.fail(this.#id(which), 1),
    start: ({ which }) => this.#relay.deliveries.start(this.#id(which)),
    cancel: ({ which }) => this.#post(`/${this.#id(which)}/cancel`),
    replay: ({ which }) => this.#post(`/${this.#id(which)}/replay`),
    // Like a process that has not heard of a purge yet.
    replayUnheard: ({ which }) => this.#relay.deliveries.replay(this.#id(which)),
    bulkReplay: () => this.#post("/replay", {}),
    purge: ({ which, number }) => {
      const status = finished[which % finished.length];
      const destinationUrlId = this.#targets[number % 4]?.destinationId;
      const before = new Date(this.#relay.clock.now() - (number % 20)).toISOString();
      return this.#post("/purge", {
        ...(status && { status }),
        ...(destinationUrlId !== undefined && { destinationUrlId }),
        ...(number % 3 === 0 && { before }),
      });
    },
    delete: () => this.#relay.purger.step(never),
    deleteAnew: () => {
      this.#relay.newPurger();
      return this.#relay.purger.step(never);
    },
    pass: async ({ number }) => this.#relay.clock.advance(number),
    failToWrite: async ({ number }) => this.#relay.models.failures.push(number % 2 ? "before" : "after"),
    breakOff: async ({ number }) => {
      this.#relay.models.failures.push(number % 2 ? "before" : "after");
      await this.#relay.restartRunner();
    },
  };

  async step(step: Step): Promise<void> {
    try {
      await this.actions[step.action]?.(step);
    } catch (error) {
      if (!(error instanceof Refusal) && !(error instanceof RevisionConflict)) throw error;
    }
  }

  /** Checks that lists and gets agree, and show exactly the events that no purge took. */
  async look(): Promise<void> {
    const { store } = this.#relay;
    const { items, total } = (await this.#list("")) as { items: { id: string; status: string }[]; total: number };
    expect(total).to.equal(items.length);
    const shown = new Map(items.map(({ id, status }) => [id, status]));
    for (const id of this.#everyId) {
      const got = await this.#tenant.owner.client.get(`/api/v1/events/${id}`);
      expect(got.status === 200 ? got.json["status"] : undefined).to.equal(shown.get(id));
      const { facts } = await loadWebhook(store, id);
      const taken = isPurged(await store.purges(), facts);
      expect(shown.has(id)).to.equal(facts.length > 0 && !taken);
    }
    for (const status of new Set(shown.values())) {
      const { total: counted } = await this.#list(`&Status=${status}`);
      expect(counted).to.equal(items.filter((item) => item.status === status).length);
    }
    expect(store.wronged).to.deep.equal([]);
  }

  async #list(query: string): Promise<Record<string, unknown>> {
    const answer = await this.#tenant.owner.client.get(`/api/v1/events?Qt=100${query}`);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json;
  }

  #post(path: string, json?: object): Promise<unknown> {
    return this.#tenant.owner.client.post(`/api/v1/events${path}`, json);
  }

  #id(which: number): string {
    return this.#ids.get(keyOf(which)) ?? nobody;
  }
}

const nobody = "00000000-0000-7000-8000-000000000000";

const keyOf = (which: number) => `key ${which % eventCount}`;

const likely = ["acceptAndSucceed", "acceptAndSucceed", "acceptAndFail", "purge", "purge", "delete"];
const rare = [
  "accept", "succeed", "fail", "start", "cancel", "replay", "replayUnheard", "bulkReplay", "deleteAnew", "pass",
  "breakOff", "failToWrite", "acceptAndSucceedLate",
];
const steps = fc.array(
  fc.record({
    action: fc.constantFrom(...likely, ...rare),
    which: fc.nat(31),
    number: fc.nat(100),
    joined: fc.boolean(),
  }),
  { minLength: 30, maxLength: 80 },
);

describe("purges of random histories", () => {
  it("have the same result with interruptions and repeated keys, and after a rebuild at any time", async () => {
    let deleted = 0;
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(80), async (taken, moment) => {
        const relay = await ManualRelay.open();
        const play = await Play.begin(relay);
        let together: Promise<void>[] = [];
        for (const [at, step] of taken.entries()) {
          if (!step.joined) {
            await Promise.all(together);
            together = [];
          }
          together.push(play.step(step));
          if (at !== moment) continue;
          await Promise.all(together);
          await play.look();
          await relay.forgotten();
          const { purging: _live, ...live } = withoutMoments(relay.models.contents()).documents;
          const { purging: _built, ...built } = withoutMoments(await relay.rebuilt()).documents;
          expect(built).to.deep.equal(live);
        }
        await Promise.all(together);
        await play.look();
        await relay.settle();
        await play.look();
        const contents = withoutMoments(relay.models.contents());
        expect(withoutMoments(await relay.rebuilt())).to.deep.equal(contents);
        expect([contents.documents["purges"], contents.documents["purging"]]).to.deep.equal([{}, {}]);
        deleted += relay.store.deleted;
        expect(relay.api.errors).to.deep.equal([]);
        await relay.close();
      }),
      // A run takes a third of a second: shrinking a failure would exceed the test's timeout, and report none.
      { numRuns: sized(30, 2_000), endOnFailure: true },
    );
    expect(deleted).to.be.greaterThan(20);
  });
});
