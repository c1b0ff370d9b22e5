import { expect } from "chai";
import { SqliteExpiringState } from "../../../../packages/embedded-engine/src/index.ts";
import { Retention } from "../../../../src/features/purges/retention.ts";
import { streams } from "../../../../src/kernel/domain/streams.ts";
import { LogUnavailable, type RecordedEvent } from "../../../../src/kernel/ports/event-store.ts";
import { createTenant, login, openIngest } from "../../../support/accounts.ts";
import { ManualRelay, never } from "../../../support/manual-relay.ts";
import { quiet } from "../../../support/telemetry.ts";

const dayMs = 86_400_000;
const hourMs = 3_600_000;

describe("retention", () => {
  let relay: ManualRelay;
  let state: SqliteExpiringState;
  let anomalies: string[];
  beforeEach(async () => {
    relay = await ManualRelay.open();
    state = new SqliteExpiringState(":memory:", relay.clock);
    anomalies = [];
  });
  afterEach(async () => {
    expect(relay.api.errors).to.deep.equal([]);
    await state.close();
    await relay.close();
  });

  /** A run, of a process of its own, once the read models have all tenants. */
  const run = async (isOver = never) => {
    const retention = new Retention({
      ...relay.api.world,
      state,
      purge: relay.api.services.commands.purge,
      logger: quiet,
      metrics: { anomaly: (of) => anomalies.push(of) },
    });
    await relay.drained();
    await retention.run(isOver);
  };
  /** A tenant with this retention. */
  const open = async (retentionDays: number | null) => {
    const tenant = await createTenant(relay.api.url);
    const path = `/api/v1/tenants/${tenant.tenantId}`;
    const answer = await tenant.owner.client.patch(path, { retentionDays });
    expect([answer.status, answer.json["retentionDays"]]).to.deep.equal([200, retentionDays]);
    const target = await openIngest(tenant.owner.client, tenant.tenantId);
    return {
      ...tenant,
      accept: () => relay.accept(target),
      shown: async () => {
        const client = await login(relay.api.url, tenant.owner.email);
        const { items } = (await client.get("/api/v1/events?Qt=100")).json as { items: { id: string }[] };
        return items.map(({ id }) => id);
      },
    };
  };
  const purges = async () => (await relay.store.purges()).length;

  it("purges finished events beyond a tenant's retention, and nothing of other tenants", async () => {
    const [short, long, none] = [await open(1), await open(30), await open(null)];
    const old = { short: await short.accept(), long: await long.accept(), none: await none.accept() };
    for (const id of Object.values(old)) await relay.deliveries.succeed(id);
    const waiting = await short.accept();
    relay.clock.advance(dayMs - 60_000);
    const young = await short.accept();
    await relay.deliveries.succeed(young);
    await run();
    expect(await short.shown()).to.have.members([old.short, waiting, young]);
    relay.clock.advance(hourMs);
    await run();
    expect(await short.shown()).to.have.members([waiting, young]);
    expect(await long.shown()).to.deep.equal([old.long]);
    expect(await none.shown()).to.deep.equal([old.none]);
    const facts = await relay.store.readStream(`purges-${short.tenantId}`);
    const [purge] = facts.filter(({ type }) => type === "EventsPurged") as readonly RecordedEvent[];
    expect(purge?.data).to.include({ status: null, destinationId: null, matched: 1 });
    expect(purge?.metadata.actor).to.deep.equal({ type: "service", part: "retention" });
    expect(anomalies).to.deep.equal([]);
  });

  it("writes no fact when there is nothing to purge", async () => {
    const tenant = await open(1);
    await tenant.accept();
    relay.clock.advance(3 * dayMs);
    await run();
    expect(await purges()).to.equal(0);
  });

  it("checks a tenant once an hour across all processes", async () => {
    const tenant = await open(1);
    const finish = async () => relay.deliveries.succeed(await tenant.accept());
    await finish();
    relay.clock.advance(hourMs / 2);
    await finish();
    relay.clock.advance(dayMs - hourMs / 2 + 1_000);
    await run();
    expect(await purges()).to.equal(1);
    relay.clock.advance(hourMs / 2);
    await run();
    expect(await purges()).to.equal(1);
    relay.clock.advance(hourMs / 2);
    await run();
    expect(await purges()).to.equal(2);
    expect(await tenant.shown()).to.deep.equal([]);
  });

  it("checks a tenant again when the clock was set back", async () => {
    const tenant = await open(1);
    const finish = async () => relay.deliveries.succeed(await tenant.accept());
    await finish();
    relay.clock.advance(9 * dayMs);
    await run();
    expect(await purges()).to.equal(1);
    relay.clock.advance(-6 * dayMs);
    await finish();
    relay.clock.advance(-hourMs);
    await run();
    relay.clock.advance(2 * dayMs);
    await run();
    expect(await tenant.shown()).to.deep.equal([]);
  });

  it("can be stopped between tenants", async () => {
    const two = [await open(1), await open(1)];
    for (const { accept } of two) await relay.deliveries.succeed(await accept());
    relay.clock.advance(2 * dayMs);
    let begun = 0;
    await run(() => (begun += 1) > 1);
    expect(await purges()).to.equal(1);
    await run();
    expect(await purges()).to.equal(2);
  });

  it("tries a failed tenant again in the next run, and purges the others meanwhile", async () => {
    const [one, other] = [await open(1), await open(2)];
    for (const { accept } of [one, other]) await relay.deliveries.succeed(await accept());
    relay.clock.advance(3 * dayMs);
    relay.store.beforeAppend = (stream) => {
      if (stream === `purges-${one.tenantId}`) throw new LogUnavailable("away");
    };
    await run();
    expect([anomalies, await purges()]).to.deep.equal([["retention"], 1]);
    expect(await other.shown()).to.deep.equal([]);
    relay.store.beforeAppend = () => undefined;
    await run();
    expect(await purges()).to.equal(2);
    expect(await one.shown()).to.deep.equal([]);
  });

  it("purges nothing of a tenant while only a newer release can read its retention", async () => {
    const [newer, other] = [await open(1), await open(1)];
    for (const tenant of [newer, other]) await relay.deliveries.succeed(await tenant.accept());
    relay.clock.advance(2 * dayMs);
    await relay.store.appendNewer(streams.tenant(newer.tenantId));
    await run();
    const { entries } = await relay.store.readLog("", 1_000);
    expect(entries.filter(({ type }) => type === "EventsPurged").map(({ stream }) => stream))
      .to.deep.equal([streams.purges(other.tenantId)]);
    expect(anomalies).to.deep.equal(["retention"]);
  });
});
