import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { forCaller } from "../../../../src/kernel/callers/caller.ts";
import { LongReads } from "../../../../src/kernel/log/long-reads.ts";
import { InMemoryEventStore } from "../../../support/in-memory-event-store.ts";

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

  it("end between two pages once their caller has gone, and do not begin then", async () => {
    const { begun, read, finish } = staged();
    const gone = new AbortController();
    const reading = forCaller(gone.signal, () => [read("one", 3), ...Array.from({ length: 9 }, () => read("one", 1))]);
    const other = read("other", 2);
    await turn();
    gone.abort();
    const outcomes = Promise.allSettled(reading);
    await finish();
    const done = (await outcomes).map(({ status }) => status === "fulfilled");
    expect(done).to.deep.equal(Array.from({ length: 10 }, (_, at) => at > 0 && at < 4));
    await other;
    expect(begun.filter((tenant) => tenant === "one")).to.have.length(4);
    expect(begun.filter((tenant) => tenant === "other")).to.have.length(2);
  });

  it("go on after a failed one", async () => {
    const { reads } = staged();
    const failing = Array.from({ length: 64 }, () => reads.run("a", (inTurn) => inTurn(async () => {
      throw new Error("away");
    })));
    for (const outcome of await Promise.allSettled(failing)) expect(outcome.status).to.equal("rejected");
    expect(await reads.run("a", async () => "read")).to.equal("read");
  });

  it("are bounded by store", () => {
    const [one, other] = [new InMemoryEventStore(), new InMemoryEventStore()];
    expect(LongReads.of(one)).to.equal(LongReads.of(one)).and.not.equal(LongReads.of(other));
  });
});
