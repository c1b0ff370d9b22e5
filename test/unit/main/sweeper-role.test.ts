import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { waiting } from "../../../projections/due/due.ts";
import { events } from "../../../projections/events/events.ts";
import { streams } from "../../../src/kernel/domain/streams.ts";
import type { Selection } from "../../../src/kernel/ports/read-models.ts";
import type { WorkItem } from "../../../src/kernel/ports/work-queue.ts";
import { deliveryRoles, type DeliveryParts } from "../../../src/main/roles.ts";
import { createTenant, openIngest } from "../../support/accounts.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { ManualRelay } from "../../support/manual-relay.ts";
import { eventually } from "../../support/relay.ts";
import { quiet, uncounted } from "../../support/telemetry.ts";

/** A log that was never unavailable. */
const reach = { reachableSince: -Infinity };

describe("the role of the sweeper", () => {
  it("gives up lost attempts while the queue is unavailable and takes no wake-up", async () => {
    const relay = await ManualRelay.open();
    const { owner, tenantId } = await createTenant(relay.api.url);
    const target = await openIngest(owner.client, tenantId);
    const ingest = () => relay.accept(target);
    const [lost, due] = [await ingest(), await ingest()];
    await relay.deliveries.start(lost);
    await relay.deliveries.fail(due, 10);
    await relay.drained();
    relay.clock.advance(60_000);
    let refused = 0;
    const publish = async () => {
      refused += 1;
      throw new Error("the queue is away");
    };
    const { services, world } = relay.api;
    const parts = {
      ...world, queue: { publish }, shared: { queue: true, log: true }, reach,
      retry: { scheduleMs: [60_000], jitter: 0 },
      purge: services.commands.purge, forgetting: services.forgetting, logger: quiet, metrics: uncounted,
      rotation: { finish: async () => ({ rewrapped: 0, left: 0 }) },
    } as unknown as DeliveryParts;
    const [role] = deliveryRoles(parts, new Set(["sweeper"]));
    void role?.start();
    await eventually(async () => (await relay.store.readStream(streams.event(lost))).map(({ type }) => type),
      (types) => types.includes("DeliveryFailed"));
    expect(refused).to.be.greaterThan(0);
    await role?.stop(0);
    await relay.close();
  });

  it("sends wake-ups for retries while its other queries fail, or do not end", async () => {
    const relay = await ManualRelay.open();
    const { owner, tenantId } = await createTenant(relay.api.url);
    const target = await openIngest(owner.client, tenantId);
    await relay.deliveries.fail(await relay.accept(target), 10);
    await relay.drained();
    relay.clock.advance(60_000);
    const { models } = relay;
    const answer = Promise.withResolvers<null>();
    const readModels = {
      find: models.find.bind(models),
      get: () => answer.promise,
      distinct: async (selection: Selection, field: string, options: { readonly limit: number }) => {
        if (selection.collection !== waiting.name) throw new Error("no answer");
        return models.distinct(selection, field, options);
      },
    };
    const woken: string[] = [];
    const publish = async (items: readonly WorkItem[]) => void woken.push(...items.map((item) => item.destinationId));
    const { services, world } = relay.api;
    const parts = {
      ...world, readModels, queue: { publish }, shared: { queue: true, log: true }, reach,
      retry: { scheduleMs: [60_000], jitter: 0 },
      purge: services.commands.purge, forgetting: services.forgetting, logger: quiet, metrics: uncounted,
      rotation: { finish: async () => ({ rewrapped: 0, left: 0 }) },
    } as unknown as DeliveryParts;
    const [role] = deliveryRoles(parts, new Set(["sweeper"]));
    void role?.start();
    await eventually(async () => woken, (destinations) => destinations.includes(target.destinationId));
    answer.resolve(null);
    await role?.stop(0);
    await relay.close();
  });

  it("looks for deleted destinations at its start and every minute, and for any due work every 3 s", async () => {
    const clock = new ManualClock();
    let looks = { deleted: 0, any: 0 };
    const readModels = {
      find: async () => [],
      distinct: async ({ collection, where, range }: Selection) => {
        if (collection === waiting.name && !range) looks.deleted += 1;
        if (collection === events.name && where?.["status"] === "Pending" && range?.to !== undefined) looks.any += 1;
        return [];
      },
    };
    const parts = {
      clock, readModels, shared: { queue: true, log: true }, reach, logger: quiet, metrics: uncounted,
      forgetting: { overdue: async () => [] }, rotation: { finish: async () => ({ rewrapped: 0, left: 0 }) },
    } as unknown as DeliveryParts;
    const [role] = deliveryRoles(parts, new Set(["sweeper"]));
    const after = async (ms: number) => {
      looks = { deleted: 0, any: 0 };
      clock.advance(ms);
      for (let n = 0; n < 20; n += 1) await turn();
      return looks;
    };
    void role?.start();
    await after(0);
    expect(await after(199)).to.deep.equal({ deleted: 0, any: 0 });
    expect(await after(1)).to.deep.equal({ deleted: 1, any: 1 });
    expect(await after(2_999)).to.deep.equal({ deleted: 0, any: 0 });
    expect(await after(1)).to.deep.equal({ deleted: 0, any: 1 });
    expect(await after(56_999)).to.include({ deleted: 0 });
    expect(await after(1)).to.include({ deleted: 1 });
    await role?.stop(0);
  });
});
