import { expect } from "chai";
import { PendingRequests } from "../../../../packages/embedded-engine/src/event-store/pending-requests.ts";
import { LogUnavailable } from "../../../../src/kernel/ports/event-store.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

describe("requests to the log's threads", () => {
  it("are forgotten once they are answered", async () => {
    const cancelled: number[] = [];
    const clock = new ManualClock();
    clock.schedule = (ms) => ({ cancel: () => void cancelled.push(ms) });
    const requests = new PendingRequests(clock, 100);
    const answered = requests.ask((request) => requests.settle({ kind: "answer", request, result: "yes" }), 1);
    const left = requests.ask(() => undefined, 2).catch(String);
    expect(await answered).to.equal("yes");
    requests.fail(new LogUnavailable("gone"));
    expect(await left).to.equal("LogUnavailable: gone");
    expect(cancelled, "each is let go once").to.deep.equal([1, 2]);
  });

  it("are refused while too many wait, and leave no deadline behind", async () => {
    let deadlines = 0;
    const clock = new ManualClock();
    clock.schedule = () => ({ cancel: () => void (deadlines -= 1) });
    const requests = new PendingRequests(clock, 100);
    const most = 100_000;
    let refused = 0;
    const ask = () => requests.ask(() => void (deadlines += 1)).catch(() => void (refused += 1));
    const asked = Array.from({ length: most }, ask);
    expect(await requests.ask(() => expect.fail("was sent")).catch(String))
      .to.equal("LogUnavailable: too many requests wait for the log");
    expect(refused).to.equal(0);
    requests.fail(new LogUnavailable("gone"));
    await Promise.all(asked);
    expect({ refused, deadlines }).to.deep.equal({ refused: most, deadlines: 0 });
  });
});
