import { expect } from "chai";
import { Places, type Leave } from "../../../../src/http/admission/admission.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const present = () => new AbortController().signal;

describe("places for requests", () => {
  let clock: ManualClock;
  let places: Places;
  /** Callers in the order in which they entered, and the refusals of the others. */
  let entered: string[];
  let refused: string[];
  let leaving: Leave[];
  beforeEach(() => {
    clock = new ManualClock();
    places = new Places(clock, 16);
    [entered, refused, leaving] = [[], [], []];
  });

  const ask = (tenantId: string, callerId: string, gone = present) => {
    const asking = places.enter({ tenantId, callerId }, gone);
    void asking.then((leave) => {
      entered.push(`${tenantId} ${callerId}`);
      leaving.push(leave);
    }, (error: Error) => refused.push(error.message));
  };
  const settled = async () => {
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };
  const leaveOne = async () => {
    leaving.shift()?.();
    await settled();
  };

  it("leave a quarter to a caller alone, half to a tenant, and find one for a caller without any", async () => {
    for (let asked = 0; asked < 20; asked += 1) ask("one", "a");
    await settled();
    expect(entered).to.have.length(4);
    for (let caller = 0; caller < 20; caller += 1) ask("one", `b${caller}`);
    await settled();
    expect(entered).to.have.length(8);
    for (let tenant = 0; tenant < 8; tenant += 1) ask(`tenant ${tenant}`, "a");
    await settled();
    expect(entered).to.have.length(16);
  });

  it("go to tenants in turns, and within a tenant to callers", async () => {
    for (let asked = 0; asked < 16; asked += 1) ask(`tenant ${asked}`, "a");
    await settled();
    entered = [];
    for (let asked = 0; asked < 3; asked += 1) ask("one", "a");
    ask("one", "b");
    ask("two", "a");
    for (let left = 0; left < 16; left += 1) await leaveOne();
    expect(entered).to.deep.equal(["one a", "two a", "one b", "one a", "one a"]);
  });

  it("are not for callers that go while they wait", async () => {
    const gone = new AbortController();
    for (let asked = 0; asked < 8; asked += 1) ask("one", "a", () => gone.signal);
    ask("one", "a");
    await settled();
    expect(entered).to.have.length(4);
    gone.abort();
    await settled();
    expect(refused).to.deep.equal(Array.from({ length: 4 }, () => "the caller has gone"));
    await leaveOne();
    expect(entered).to.have.length(5);
    ask("one", "a", () => gone.signal);
    await settled();
    expect(refused).to.have.length(5);
  });

  it("are waited for 5 s, by 1,024 requests of a caller", async () => {
    for (let asked = 0; asked < 4 + 1_024; asked += 1) ask("one", "a");
    await settled();
    expect(refused).to.deep.equal([]);
    ask("one", "a");
    await settled();
    expect(refused).to.deep.equal(["too much is asked for at once; try again"]);
    clock.advance(4_999);
    await settled();
    expect(refused).to.have.length(1);
    clock.advance(1);
    await settled();
    expect(refused).to.have.length(1 + 1_024);
    await leaveOne();
    ask("one", "a");
    await settled();
    expect(entered).to.have.length(5);
  });

  it("are left once, however often that is said", async () => {
    ask("one", "a");
    await settled();
    const [leave] = leaving;
    leave?.();
    leave?.();
    for (let asked = 0; asked < 20; asked += 1) ask("one", "a");
    await settled();
    expect(entered).to.have.length(1 + 4);
  });
});
