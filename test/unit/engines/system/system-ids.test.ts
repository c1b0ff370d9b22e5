import { expect } from "chai";
import { SystemIds } from "../../../../src/engines/system/system-ids.ts";

describe("SystemIds", () => {
  const realNow = Date.now;
  afterEach(() => { Date.now = realNow; });

  it("makes ids that carry the time and ascend, also when the clock goes back or a millisecond is full", () => {
    const ids = new SystemIds();
    Date.now = () => 0x0193_a1b2_c3d4;
    const made = [ids.uuid()];
    expect(made[0]).to.match(/^0193a1b2-c3d4-7/);
    for (let more = 0; more < 10_000; more++) made.push(ids.uuid());
    Date.now = () => 0x0193_0000_0000;
    for (let more = 0; more < 10; more++) made.push(ids.uuid());
    expect(made).to.deep.equal(made.toSorted());
    expect(new Set(made)).to.have.length(made.length);
    Date.now = () => 0x0194_0000_0000;
    expect(ids.uuid()).to.match(/^01940000-0000-7/);
  });
});
