import { expect } from "chai";
import { decide } from "../../../../src/features/events/decide.ts";
import { isLate, type WebhookEvent } from "../../../../src/features/events/facts.ts";
import {
  claim, exhausted, fail, given, histories, lived, moved, policy, start, stateOf, succeed, succeeded, t, unknown,
  waitingRetry,
} from "../../../support/webhook-history.ts";

const resend = (seconds: number) => ({ type: "Resend", at: t(seconds) } as const);
const bringForward = (seconds: number) => ({ type: "BringForward", at: t(seconds) } as const);

describe("webhook event that is resent", () => {
  it("is Pending again, with its attempts' numbers and its last success, and a new count", () => {
    const spec = given(succeeded).when(resend(500));
    spec.gives({
      type: "EventReplayed", data: { ...moved("Succeeded", "Pending", 500), mode: "resend", nextAttemptAt: t(500) },
    });
    expect(spec.state()).to.deep.include({
      status: "Pending", retryCount: 0, attempts: 1, nextAttemptAt: t(500), deliveredAt: t(1),
    });
    const givenUp = given(exhausted).when(resend(500));
    givenUp.givesTypes("EventReplayed");
    expect(givenUp.state()).to.deep.include({ status: "Pending", retryCount: 0, attempts: 3, deliveredAt: null });
  });

  it("was Succeeded or in CriticalFailure", () => {
    for (const status of ["Pending", "Processing", "WaitingRetry", "Cancelled"] as const) {
      given(histories[status]).when(resend(500)).refused("invalid", status);
    }
  });

  it("goes on from its attempts' numbers, and keeps the last success until the next one", () => {
    const again = lived(start(0), succeed(1, 1), resend(2), start(3));
    expect(stateOf(again)).to.deep.include({ attempts: 2, open: [2], deliveredAt: t(1) });
    expect(given(again).when(succeed(2, 4)).state()).to.deep.include({ status: "Succeeded", deliveredAt: t(4) });
    const failed = given(again).when(fail(2, 4, { policy: { ...policy, maxTrys: 1 } })).state();
    expect(failed).to.deep.include({ status: "CriticalFailure", retryCount: 1, deliveredAt: t(1) });
  });

  it("is sent once more by each order, however many came before", () => {
    const data = { ...moved("Pending", "Processing", 6), attempt: 100_000, ...claim(6) };
    const facts: WebhookEvent[] = [...lived(), { type: "DeliveryAttemptStarted", data }];
    const done = [...facts, ...decide(stateOf(facts), succeed(100_000, 7))];
    given(done).when(resend(8)).givesTypes("EventReplayed");
  });

  it("is not settled by a late outcome of an attempt of before, in any status", () => {
    const lostThenDone = [start(0), fail(1, 20, unknown), start(20), succeed(2, 21)];
    const states = {
      Pending: lived(...lostThenDone, resend(30)),
      Processing: lived(...lostThenDone, resend(30), start(31)),
      WaitingRetry: lived(...lostThenDone, resend(30), start(31), fail(3, 32)),
      CriticalFailure: lived(
        ...lostThenDone, resend(30), start(31), fail(3, 32, { policy: { ...policy, maxTrys: 1 } })),
    } as const;
    for (const [status, facts] of Object.entries(states)) {
      for (const outcome of [succeed(1, 40), fail(1, 40)]) {
        const spec = given(facts).when(outcome);
        expect(spec.state(), status).to.deep.include({ ...stateOf(facts), lost: [] });
        expect(stateOf(facts).lost, status).to.deep.equal([1]);
      }
      expect(isLate(stateOf(facts), 1), status).to.equal(true);
    }
  });

  it("is not settled by an attempt that was under way when it was resent, and which is late for its circuit", () => {
    // A late success of the first attempt finished the event while the second was under way.
    const facts = lived(start(0), fail(1, 20, unknown), start(20), succeed(1, 21), resend(22), start(23));
    expect(stateOf(facts)).to.deep.include({ status: "Processing", open: [2, 3] });
    expect([2, 3].map((attempt) => isLate(stateOf(facts), attempt))).to.deep.equal([true, false]);
    for (const outcome of [succeed(2, 24), fail(2, 24), fail(2, 24, unknown)]) {
      expect(given(facts).when(outcome).state()).to.deep.include({ status: "Processing", retryCount: 0, open: [3] });
    }
  });

  it("is settled by a late success of its own attempts", () => {
    const facts = lived(start(0), succeed(1, 1), resend(2), start(3), fail(2, 23, unknown));
    expect(given(facts).when(succeed(2, 24)).state()).to.include({ status: "Succeeded", deliveredAt: t(24) });
  });
});

describe("webhook event whose retry is brought forward", () => {
  it("is due now, its count kept", () => {
    const spec = given(waitingRetry).when(bringForward(2));
    spec.gives({
      type: "RetryBroughtForward", data: { ...moved("WaitingRetry", "WaitingRetry", 2), nextAttemptAt: t(2) },
    });
    expect(spec.state()).to.deep.include({ status: "WaitingRetry", retryCount: 1, nextAttemptAt: t(2) });
    given([...waitingRetry, ...decide(stateOf(waitingRetry), bringForward(2))])
      .when(start(2)).givesTypes("DeliveryAttemptStarted");
  });

  it("keeps a time that has come already", () => {
    for (const seconds of [6, 7]) given(waitingRetry).when(bringForward(seconds)).changesNothing();
  });

  it("was in WaitingRetry", () => {
    for (const status of ["Pending", "Processing", "Succeeded", "CriticalFailure", "Cancelled"] as const) {
      given(histories[status]).when(bringForward(500)).refused("invalid", status);
    }
  });
});
