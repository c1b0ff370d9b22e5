import { expect } from "chai";
import { PendingRequests } from "../../../../src/adapters/embedded-event-store/pending-requests.ts";
import { LogUnavailable } from "../../../../src/ports/event-store.ts";
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
});
