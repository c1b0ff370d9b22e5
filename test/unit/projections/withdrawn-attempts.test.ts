import { expect } from "chai";
import type { WebhookEvent } from "../../../src/features/events/facts.ts";
import { projected } from "../../support/projected.ts";
import { accepted, fail, id, lived, start, t, waitingRetry } from "../../support/webhook-history.ts";

describe("projections of an attempt that was withdrawn", () => {
  const withdraw = (attempt: number) => ({ type: "Withdraw", attempt, error: "away", at: t(11) } as const);
  const contentsOf = async (facts: readonly WebhookEvent[]) => (await projected([...facts])).contents();

  it("are as before a first attempt", async () => {
    expect(await contentsOf(lived(start(10), withdraw(1)))).to.deep.equal(await contentsOf([accepted]));
  });

  it("are as before a retry, but that the outcome of the attempt before is read from the log", async () => {
    const before = (await contentsOf(waitingRetry)).documents;
    const after = (await contentsOf(lived(start(0), fail(1, 1), start(10), withdraw(2)))).documents;
    expect(after["waiting"]).to.deep.equal(before["waiting"]);
    expect(after["leases"]).to.deep.equal({});
    expect(after["events"]?.[id(5)]).to.deep.equal({
      ...before["events"]?.[id(5)],
      endedAttempt: 0, endedAt: null, endedStatusCode: null, endedReason: "outcome unknown", endedDurationMs: null,
    });
  });
});
