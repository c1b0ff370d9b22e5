import { expect } from "chai";
import { Breaker } from "../../../../src/delivery/dispatch/breaker.ts";
import type { Ended } from "../../../../src/delivery/dispatch/work.ts";
import { newCircuit, type Circuit } from "../../../../src/features/circuits/facts.ts";
import { timestamp, type Timestamp } from "../../../../src/kernel/domain/time.ts";

const at = (seconds: number) => timestamp(Date.UTC(2026, 0, 15) + seconds * 1_000);
const follow = (breaker: Breaker, circuit: Circuit, now: Timestamp) => breaker.follow(circuit, () => now);
const closed = newCircuit("destination", "tenant");
const open: Circuit = { ...closed, position: "Open", failures: 5, openUntil: at(300) };
const good = async () => "delivered" as const;

describe("the breaker of a destination", () => {
  let breaker: Breaker;
  beforeEach(() => (breaker = new Breaker()));
  afterEach(() => breaker.drop());

  const fire = (task: () => Promise<Ended> = good) => breaker.fire(task);
  const refused = () => fire().then(() => "let through", ({ code }: { readonly code: string }) => code);

  it("lets all requests through while the circuit is closed, even if they fail", async () => {
    for (let attempt = 0; attempt < 50; attempt += 1) {
      expect(await fire(async () => "failed")).to.equal("failed");
      follow(breaker, closed, at(attempt));
      expect(breaker).to.include({ closed: true, admits: true, probing: false });
    }
  });

  it("runs a task in the turn in which the task is fired", () => {
    let ran = false;
    void fire(async () => {
      ran = true;
      return "delivered";
    });
    expect(ran).to.equal(true);
  });

  it("lets no request through while the circuit is open", async () => {
    follow(breaker, open, at(299));
    expect(breaker).to.include({ closed: false, admits: false, probing: false });
    expect(await refused()).to.equal("EOPENBREAKER");
  });

  it("lets one probe through once the circuit's time is over, and closes when it succeeds", async () => {
    follow(breaker, open, at(299));
    follow(breaker, open, at(300));
    const answer = Promise.withResolvers<Ended>();
    const probe = fire(() => answer.promise);
    expect(breaker).to.include({ closed: false, admits: false, probing: true });
    expect(await refused()).to.equal("EOPENBREAKER");
    follow(breaker, open, at(301));
    expect(breaker.probing, "it goes on").to.equal(true);
    answer.resolve("delivered");
    expect(await probe).to.equal("delivered");
    expect(breaker).to.include({ closed: true, admits: true, probing: false });
  });

  for (const [how, task] of [
    ["fails", async () => "failed" as const],
    ["rejects", () => Promise.reject(new Error("away"))],
  ] as const) it(`opens when the probe ${how}, until the circuit lets another probe go`, async () => {
    follow(breaker, { ...closed, position: "HalfOpen" }, at(0));
    await fire(task).catch(() => undefined);
    expect(breaker).to.include({ closed: false, admits: false, probing: false });
    follow(breaker, { ...open, openUntil: at(10) }, at(9));
    expect(breaker.admits).to.equal(false);
    follow(breaker, { ...open, openUntil: at(10) }, at(10));
    expect(breaker.admits).to.equal(true);
  });

  it("is not closed by an attempt that was open when the breaker opened", async () => {
    const answer = Promise.withResolvers<Ended>();
    const attempt = fire(() => answer.promise);
    follow(breaker, open, at(0));
    follow(breaker, open, at(300));
    answer.resolve("delivered");
    await attempt;
    expect(breaker).to.include({ closed: false, admits: true });
  });

  it("lets no probe wait for the probe of an earlier outage", async () => {
    follow(breaker, open, at(300));
    const answer = Promise.withResolvers<Ended>();
    const earlier = fire(() => answer.promise);
    follow(breaker, closed, at(301));
    follow(breaker, { ...open, openUntil: at(600) }, at(302));
    follow(breaker, { ...open, openUntil: at(600) }, at(600));
    expect(breaker).to.include({ admits: true, probing: false });
    answer.resolve("delivered");
    await earlier;
    expect(breaker, "it is another outage's").to.include({ closed: false, admits: true });
  });
});
