import { expect } from "chai";
import { SecretExpiry } from "../../../../src/features/secrets/worker.ts";
import { streams } from "../../../../src/kernel/domain/streams.ts";
import { LogUnavailable } from "../../../../src/kernel/ports/event-store.ts";
import { createTenant } from "../../../support/accounts.ts";
import { ManualRelay, never } from "../../../support/manual-relay.ts";
import { quiet } from "../../../support/telemetry.ts";

describe("the expiry of older secrets", () => {
  let relay: ManualRelay;
  let anomalies: string[];
  beforeEach(async () => {
    relay = await ManualRelay.open();
    anomalies = [];
  });
  afterEach(() => relay.close());

  const run = async (isOver = never) => {
    const metrics = { anomaly: (of: string) => anomalies.push(of) };
    await relay.drained();
    await new SecretExpiry({ ...relay.api.world, logger: quiet, metrics }).run(isOver);
  };
  /** A tenant whose secret was replaced, once for each period. */
  const tenant = async (...periods: readonly number[]) => {
    const { tenantId, owner } = await createTenant(relay.api.url);
    const path = `/api/v1/tenants/${tenantId}/webhook-secret`;
    for (const gracePeriodSeconds of periods) await owner.client.post(path, { gracePeriodSeconds });
    return {
      owner, path,
      previous: async () => ((await owner.client.get(path)).json["previous"] as unknown[] | undefined)?.length ?? 0,
      expired: async () =>
        (await relay.store.readStream(streams.tenant(tenantId))).filter(({ type }) =>
          type === "WebhookSecretsExpired"),
    };
  };

  it("is recorded once an end has come, again for the next one, and not revived by a clock set back", async () => {
    const { previous, expired } = await tenant(60, 600);
    await run();
    expect(await expired()).to.deep.equal([]);
    relay.clock.advance(60_000);
    await run();
    await run();
    expect(await expired()).to.have.length(1);
    relay.clock.advance(-60_000);
    expect(await previous()).to.equal(1);
    relay.clock.advance(700_000);
    await run();
    await run();
    expect(await expired()).to.have.length(2);
    expect(anomalies).to.deep.equal([]);
  });

  it("is recorded for a destination, also of the tenant's secret beside its own", async () => {
    const { owner } = await tenant();
    const { id } = await owner.client.api.createDestination({ url: "https://receiver.example/hook" });
    for (const gracePeriodSeconds of [60, 600]) {
      await owner.client.api.replaceSigningSecret({ id }, { gracePeriodSeconds });
    }
    const expired = async () => {
      await run();
      const facts = await relay.store.readStream(streams.destination(id));
      return facts.filter(({ type }) => type === "DestinationSecretsExpired").length;
    };
    expect(await expired()).to.equal(0);
    relay.clock.advance(60_000);
    expect([await expired(), await expired()]).to.deep.equal([1, 1]);
    relay.clock.advance(600_000);
    expect([await expired(), await expired()]).to.deep.equal([2, 2]);
    expect(await owner.client.api.getSigningSecret({ id })).to.not.have.property("previous");
  });

  it("is not looked for once older secrets were ended by a person or a hard replacement", async () => {
    const [one, other] = [await tenant(60), await tenant(60)];
    await one.owner.client.post(`${one.path}/expire`);
    await other.owner.client.post(other.path, { gracePeriodSeconds: 0 });
    relay.clock.advance(60_000);
    await run();
    expect([(await one.expired()).length, await other.expired()]).to.deep.equal([1, []]);
  });

  it("is recorded for other tenants where the log refuses one, and is tried again", async () => {
    const [one, other] = [await tenant(60), await tenant(61)];
    relay.clock.advance(61_000);
    await relay.drained();
    const { aggregates } = relay.api.world;
    const change = aggregates.change.bind(aggregates);
    let refusals = 1;
    Object.assign(aggregates, { change: async (...given: Parameters<typeof change>) => {
      if (refusals > 0) {
        refusals -= 1;
        throw new LogUnavailable("away");
      }
      return change(...given);
    } });
    await run();
    expect([(await one.expired()).length, (await other.expired()).length, anomalies]).to.deep.equal([
      0, 1, ["sweeper"],
    ]);
    await run();
    expect(await one.expired()).to.have.length(1);
  });

  it("stops where the process ends", async () => {
    const { expired } = await tenant(60);
    relay.clock.advance(60_000);
    await run(() => true);
    expect(await expired()).to.deep.equal([]);
  });
});
