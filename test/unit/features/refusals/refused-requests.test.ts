import { expect } from "chai";
import { SqliteExpiringState } from "../../../../packages/embedded-engine/src/index.ts";
import { RefusedRequests, type Refused } from "../../../../src/features/refusals/refused-requests.ts";
import { ExpiringStateUnavailable } from "../../../../src/kernel/ports/expiring-state.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { quiet } from "../../../support/telemetry.ts";

const refused: Refused = {
  status: 401, reason: "X-Api-Key: is required", destinationUrlId: null, senderId: null, apiKeyId: null, requestId: "1",
};

describe("refused ingest requests", () => {
  let clock: ManualClock;
  let state: SqliteExpiringState;
  let lookups: number;
  /** `isTenant`: whether an id is a tenant's; ids that begin with `idle` are not in memory. */
  const recorder = (isTenant = (_id: string) => true) => {
    const fold = (id: string) => ({ state: isTenant(id) ? {} : undefined, revision: 0 });
    const aggregates = {
      peek: (_type: unknown, id: string) => (id.startsWith("idle") ? undefined : fold(id)),
      read: (_type: unknown, id: string) => {
        lookups += 1;
        return fold(id);
      },
    };
    return new RefusedRequests({ aggregates: aggregates as never, state, clock, logger: quiet });
  };
  beforeEach(() => {
    clock = new ManualClock();
    state = new SqliteExpiringState(":memory:", clock);
    lookups = 0;
  });
  afterEach(() => state.close());

  it("are written within a second, by one timer that is set only while there are any", async () => {
    const requests = recorder();
    for (let n = 0; n < 1_000; n += 1) requests.count("a", refused);
    expect(clock.pending).to.deep.equal([1_000]);
    clock.advance(1_000);
    expect(clock.pending).to.deep.equal([]);
    expect((await recorder().of("a")).map(({ count }) => count)).to.deep.equal([1_000]);
  });

  it("for different reasons beyond a hundred of a tenant are counted together, by status", async () => {
    const requests = recorder();
    for (let n = 0; n < 500; n += 1) requests.count("a", { ...refused, reason: `reason ${n}`, apiKeyId: "key" });
    requests.count("a", { ...refused, reason: "reason 7", apiKeyId: "key" });
    requests.count("b", refused);
    const groups = await requests.of("a");
    expect(groups).to.have.length(101);
    expect(groups.find(({ reason }) => reason === "other reasons")).to.include({ count: 400, apiKeyId: null });
    expect(groups.find(({ reason }) => reason === "reason 7")).to.include({ count: 2 });
    expect(await requests.of("b")).to.have.length(1);
  });

  it("take bounded memory and few look-ups, with any tenants named", async () => {
    const requests = recorder((id) => id.endsWith("7"));
    for (let n = 0; n < 100_000; n += 1) requests.count(`idle ${n}`, refused);
    requests.count("none", refused);
    requests.count("27", refused);
    expect(await requests.of("27")).to.have.length(1);
    expect(await requests.of("none")).to.have.length(0);
    expect(await requests.of("idle 7")).to.have.length(1);
    expect(await requests.of("idle 8")).to.have.length(0);
    expect(lookups).to.equal(20);
  });

  it("have reasons of bounded length", async () => {
    const requests = recorder();
    requests.count("a", { ...refused, reason: "x".repeat(10_000) });
    expect((await requests.of("a"))[0]?.reason).to.have.length(300);
  });

  it("that cannot be written are lost, and later ones are counted", async () => {
    const requests = recorder();
    Object.assign(state, { tally: () => Promise.reject(new ExpiringStateUnavailable("away")) });
    requests.count("a", refused);
    await requests.flush();
    Reflect.deleteProperty(state, "tally");
    requests.count("a", refused);
    expect((await requests.of("a")).map(({ count }) => count)).to.deep.equal([1]);
  });
});
