import { expect } from "chai";
import type { WebhookEvent } from "../../../../src/features/events/facts.ts";
import {
  cancel, fail, given, livedFrom, policy, start, stateOf, submission, succeed, t, unknown,
} from "../../../support/webhook-history.ts";

const accepted: WebhookEvent = { type: "EventAccepted", data: { ...submission, test: true, at: t(0) } };
const lived = (...commands: Parameters<typeof livedFrom>[1][]) => livedFrom(accepted, ...commands);

describe("test event", () => {
  it("is given up after its one attempt, for any reason of failure", () => {
    for (const change of [{}, unknown, { reason: "not sent", answer: null }, { retryAfterMs: 60_000 }] as const) {
      const spec = given(lived(start(0))).when(fail(1, 1, { ...change, policy: { ...policy, maxTrys: 9 } }));
      spec.givesTypes("DeliveryFailed", "DeliveryExhausted");
      expect(spec.state()).to.include({ status: "CriticalFailure", retryCount: 1, nextAttemptAt: null });
      given(lived(start(0), fail(1, 1, change))).when(start(600)).changesNothing();
    }
  });

  it("succeeds like any other, by a late outcome of its attempt, too", () => {
    expect(given(lived(start(0))).when(succeed(1, 1)).state()).to.include({ status: "Succeeded" });
    const lost = lived(start(0), fail(1, 20, unknown));
    expect(given(lost).when(succeed(1, 21)).state()).to.include({ status: "Succeeded" });
  });

  it("can be neither replayed nor resent", () => {
    for (const facts of [lived(start(0), fail(1, 1)), lived(start(0), succeed(1, 1))]) {
      expect(stateOf(facts).test).to.equal(true);
      for (const type of ["Replay", "Resend"] as const) {
        given(facts).when({ type, at: t(9) }).refused("invalid", "test event");
      }
    }
  });

  it("can be cancelled while it waits", () => {
    expect(given([accepted]).when(cancel("requested", 1)).state()).to.include({ status: "Cancelled" });
    const deleted = fail(1, 1, { destinationDeleted: true });
    given(lived(start(0))).when(deleted).givesTypes("DeliveryFailed", "EventCancelled");
  });
});
