import { expect } from "chai";
import type { EventStatus, WebhookEvent } from "../../../../src/features/events/facts.ts";
import {
  answer, exchange, fail, failure, given, lived, lost, moved, policy, processing, start, succeed, t, unknown,
} from "../../../support/webhook-history.ts";

describe("webhook event whose worker was lost", () => {
  it("has failed with an unknown outcome, and is tried again at once", () => {
    const spec = given(processing).when(fail(1, 20, unknown));
    spec.givesTypes("DeliveryFailed", "RetryScheduled");
    expect(spec.state()).to.deep.include({
      status: "WaitingRetry",
      retryCount: 1,
      open: [],
      lost: [1],
      nextAttemptAt: t(20),
    });
  });

  it("is given up once", () => {
    given(lost)
      .when(fail(1, 21, unknown))
      .changesNothing();
    const again = lived(start(0), fail(1, 20, unknown), start(26));
    given(again)
      .when(fail(1, 27, unknown))
      .changesNothing();
  });

  it("becomes Succeeded by a late success, in any status but Cancelled", () => {
    const places: readonly (readonly [string, readonly WebhookEvent[], EventStatus])[] = [
      ["waiting", lost, "WaitingRetry"],
      ["under way again", lived(start(0), fail(1, 20, unknown), start(26)), "Processing"],
      [
        "given up",
        lived(start(0), fail(1, 20, { ...unknown, policy: { ...policy, maxTrys: 1 } })),
        "CriticalFailure",
      ],
      [
        "replayed",
        lived(start(0), fail(1, 20, { ...unknown, policy: { ...policy, maxTrys: 1 } }), {
          type: "Replay",
          at: t(30),
        }),
        "Pending",
      ],
    ];
    for (const [where, facts, from] of places) {
      const spec = given(facts).when(succeed(1, 50));
      spec.gives({
        type: "DeliverySucceeded",
        data: { ...moved(from, "Succeeded", 50), attempt: 1, ...exchange, answer: answer(200) },
      });
      expect(spec.state(), where).to.deep.include({
        status: "Succeeded",
        deliveredAt: t(50),
        nextAttemptAt: null,
        lost: [],
      });
    }
  });

  it("records a late failure, which changes neither the status nor the count", () => {
    const again = lived(start(0), fail(1, 20, unknown), start(26));
    const spec = given(again).when(fail(1, 27, { answer: answer(410) }));
    const late = {
      ...moved("Processing", "Processing", 27),
      attempt: 1,
      ...failure,
      answer: answer(410),
      retryCount: 1,
    };
    spec.gives({ type: "DeliveryFailed", data: late });
    expect(spec.state()).to.deep.include({
      status: "Processing",
      retryCount: 1,
      attempts: 2,
      open: [2],
      lost: [],
    });
  });

  it("stays Cancelled after a late success, which is recorded", () => {
    const facts = lived(start(0), fail(1, 20, { ...unknown, destinationDeleted: true }));
    const spec = given(facts).when(succeed(1, 21));
    spec.gives({
      type: "DeliverySucceeded",
      data: { ...moved("Cancelled", "Cancelled", 21), attempt: 1, ...exchange, answer: answer(200) },
    });
    expect(spec.state()).to.include({ status: "Cancelled", deliveredAt: null });
  });

  it("records the outcome of a later attempt after a late success, and stays Succeeded", () => {
    const overtaken = lived(start(0), fail(1, 20, unknown), start(26), succeed(1, 27));
    const failed = given(overtaken).when(fail(2, 28));
    const late = { ...moved("Succeeded", "Succeeded", 28), attempt: 2, ...failure, retryCount: 1 };
    failed.gives({ type: "DeliveryFailed", data: late });
    expect(failed.state()).to.deep.include({
      status: "Succeeded",
      open: [],
      deliveredAt: t(27),
      nextAttemptAt: null,
    });
    const done = given(overtaken).when(succeed(2, 28));
    done.givesTypes("DeliverySucceeded");
    expect(done.state()).to.include({ status: "Succeeded", deliveredAt: t(27) });
    given(overtaken)
      .when(fail(2, 46, unknown))
      .givesTypes("DeliveryFailed");
  });
});
