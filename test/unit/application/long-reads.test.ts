import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { LongReads } from "../../../src/application/long-reads.ts";
import { Refusal } from "../../../src/domain/refusal.ts";
import { InMemoryEventStore } from "../../support/in-memory-event-store.ts";

/** Reads that are noted as they begin, and end when the test ends them. */
function staged() {
  const reads = new LongReads();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const page = (name: string) => () => new Promise<void>((resolve) => {
    begun.push(name);
    ends.push(resolve);
  });
  const read = (tenant: string, pages: number) => reads.run(tenant, async (inTurn) => {
    for (let at = 0; at < pages; at += 1) await inTurn(page(tenant));
  });
  /** Ends the begun reads one after the other, until none is left. */
  const finish = async () => {
    await turn();
    for (let end = ends.shift(); end; end = ends.shift()) {
      end();
      await turn();
    }
  };
  return { reads, begun, read, finish };
}

describe("reads of long streams", () => {
  it("run a few pages at once, and few of one tenant", async () => {
    const { begun, read, finish } = staged();
    const all = ["a", "b", "c"].flatMap((tenant) => Array.from({ length: 10 }, () => read(tenant, 1)));
    await turn();
    expect(begun).to.deep.equal([..."aaaabbbb"]);
    await finish();
    await Promise.all(all);
    expect(begun).to.have.length(30);
  });

  it("let nobody wait for more than a few pages of each other tenant", async () => {
    const { begun, read, finish } = staged();
    const flood = ["a", "b", "c"].flatMap((tenant) => Array.from({ length: 20 }, () => read(tenant, 50)));
    await turn();
    const other = read("other", 1);
    await finish();
    await Promise.all([...flood, other]);
    expect(begun.indexOf("other")).to.be.at.most(3 * 4);
  });

  it("are refused to a tenant with too many waiting reads, and to no other, until some are done", async () => {
    const { reads, read, finish } = staged();
    const many = Array.from({ length: 64 }, () => read("many", 1));
    expect(() => reads.asked("many", async () => null)).to.throw(Refusal).with.property("kind", "unavailable");
    const bounded = read("many", 1);
    const other = reads.asked("other", async () => "read");
    await finish();
    await Promise.all([...many, bounded]);
    expect([await other, await reads.asked("many", async () => "read")]).to.deep.equal(["read", "read"]);
  });

  it("go on after one that failed", async () => {
    const { reads } = staged();
    const failing = Array.from({ length: 64 }, () => reads.run("a", (inTurn) => inTurn(async () => {
      throw new Error("away");
    })));
    for (const outcome of await Promise.allSettled(failing)) expect(outcome.status).to.equal("rejected");
    expect(await reads.asked("a", async () => "read")).to.equal("read");
  });

  it("are bounded by store", () => {
    const [one, other] = [new InMemoryEventStore(), new InMemoryEventStore()];
    expect(LongReads.of(one)).to.equal(LongReads.of(one)).and.not.equal(LongReads.of(other));
  });
});
