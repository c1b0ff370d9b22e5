import { expect } from "chai";
import { decide } from "../../../../src/features/events/decide.ts";
import { eventStatuses, withoutWithdrawn, type WebhookEvent } from "../../../../src/features/events/facts.ts";
import { failureReasons, type FailureReason } from "../../../../src/kernel/domain/failure-reason.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import {
  accepted, answer, cancel, claim, exchange, exhausted, fail, failure, given, histories, id, lived, livedFrom, lost,
  moved, policy, processing, start, stateOf, submission, succeed, succeeded, t, unknown, waitingRetry,
} from "../../../support/webhook-history.ts";

describe("webhook event", () => {
  it("is accepted once, Pending, due at once", () => {
    given([])
      .when({ type: "Accept", event: submission, at: t(0) })
      .gives(accepted);
    given([accepted])
      .when({ type: "Accept", event: submission, at: t(1) })
      .refused("conflict", "event");
    expect(stateOf([accepted])).to.include({
      id: id(5),
      status: "Pending",
      retryCount: 0,
      attempts: 0,
      nextAttemptAt: t(0),
      acceptedAt: t(0),
      deliveredAt: null,
      payload: "{}",
      idempotencyKey: "k",
      senderId: null,
      eventType: null,
      ownerId: null,
      tags: null,
      test: false,
      sourceEventId: null,
    });
  });

  it("keeps its producer's fields, and repeats its type, owner and mark of a test in later facts", () => {
    const said = { tags: { order: "7" }, sourceEventId: id(9) };
    const classified = { eventType: "invoice.paid", ownerId: "customer-42", test: true as const };
    const first: WebhookEvent = { type: "EventAccepted", data: { ...submission, ...said, ...classified, at: t(0) } };
    expect(stateOf([first])).to.deep.include({ ...said, ...classified });
    const plain = lived(start(0), fail(1, 1), start(6), fail(2, 7), start(400), fail(3, 401));
    const rows = [
      [start(0), fail(1, 1)],
      [start(0), succeed(1, 1)],
      [cancel("requested", 1)],
    ];
    for (const commands of rows) {
      const facts = livedFrom(first, ...commands);
      for (const { type, data } of facts) expect(data, type).to.include(classified);
    }
    for (const { type, data } of plain) expect(data, type).to.not.have.any.keys("eventType", "ownerId", "test");
  });

  it("must exist for any other command", () => {
    for (const command of [
      start(0),
      succeed(1, 1),
      fail(1, 1),
      { type: "Replay", at: t(1) } as const,
      { type: "Resend", at: t(1) } as const,
      { type: "BringForward", at: t(1) } as const,
      cancel("requested", 1),
    ]) {
      given([]).when(command).refused("not-found", "event");
    }
  });

  it("has histories that end in each status except Failed", () => {
    for (const [status, facts] of Object.entries(histories)) expect(stateOf(facts).status).to.equal(status);
    expect(Object.keys(histories).concat("Failed").sort()).to.deep.equal(eventStatuses.toSorted());
  });

  describe("an attempt's start", () => {
    it("claims the next attempt number, and a lease", () => {
      const spec = given([accepted]).when(start(0));
      spec.gives({
        type: "DeliveryAttemptStarted",
        data: { ...moved("Pending", "Processing", 0), attempt: 1, ...claim(0) },
      });
      expect(spec.state()).to.deep.include({ status: "Processing", attempts: 1, open: [1] });
      given(waitingRetry)
        .when(start(6))
        .gives({
          type: "DeliveryAttemptStarted",
          data: { ...moved("WaitingRetry", "Processing", 6), attempt: 2, ...claim(6) },
        });
    });

    it("is possible at once while Pending, also by a clock that was set back", () => {
      given([accepted])
        .when({ type: "StartAttempt", with: claim(0), at: timestamp(Date.parse(t(0)) - 3_600_000) })
        .givesTypes("DeliveryAttemptStarted");
    });

    it("waits for the planned time, to the millisecond", () => {
      const due = stateOf(waitingRetry).nextAttemptAt ?? "";
      const early = timestamp(Date.parse(due) - 1);
      given(waitingRetry)
        .when({ type: "StartAttempt", with: claim(6), at: early })
        .changesNothing();
      given(waitingRetry)
        .when({ type: "StartAttempt", with: claim(6), at: due })
        .givesTypes("DeliveryAttemptStarted");
    });

    it("changes nothing where the event is not waiting", () => {
      for (const status of ["Processing", "Succeeded", "CriticalFailure", "Cancelled"] as const) {
        given(histories[status]).when(start(1000)).changesNothing();
      }
    });
  });

  describe("a success", () => {
    it("is delivered", () => {
      const spec = given(processing).when(succeed(1, 1));
      spec.gives({
        type: "DeliverySucceeded",
        data: { ...moved("Processing", "Succeeded", 1), attempt: 1, ...exchange, answer: answer(200) },
      });
      expect(spec.state()).to.deep.include({
        status: "Succeeded",
        deliveredAt: t(1),
        nextAttemptAt: null,
        open: [],
        lost: [],
        retryCount: 0,
      });
    });

    it("counts once, and only for an attempt that was started", () => {
      given(succeeded).when(succeed(1, 2)).changesNothing();
      given(processing).when(succeed(2, 1)).changesNothing();
      given([accepted]).when(succeed(1, 1)).changesNothing();
      given(waitingRetry).when(succeed(1, 2)).changesNothing();
    });
  });

  describe("a failure", () => {
    it("schedules the retry in the same append", () => {
      const spec = given(processing).when(fail(1, 1, { random: 0.5 }));
      spec.gives(
        {
          type: "DeliveryFailed",
          data: { ...moved("Processing", "Failed", 1), attempt: 1, ...failure, retryCount: 1 },
        },
        {
          type: "RetryScheduled",
          data: { ...moved("Failed", "WaitingRetry", 1), retryCount: 1, nextAttemptAt: t(6.25) },
        },
      );
      expect(spec.state()).to.deep.include({
        status: "WaitingRetry",
        retryCount: 1,
        nextAttemptAt: t(6.25),
        open: [],
        lost: [],
        deliveredAt: null,
      });
    });

    it("obeys the receiver's Retry-After", () => {
      expect(
        given(processing)
          .when(fail(1, 1, { retryAfterMs: 60_000 }))
          .state(),
      ).to.include({ nextAttemptAt: t(61) });
    });

    it("schedules by the same rule for every reason, but at once after the relay's own failure", () => {
      for (const reason of failureReasons) {
        const spec = given(processing).when(fail(1, 1, { reason, answer: null }));
        spec.givesTypes("DeliveryFailed", "RetryScheduled");
        const isOwn = reason === "outcome unknown" || reason === "not sent";
        expect(spec.state(), reason).to.include({ retryCount: 1, nextAttemptAt: isOwn ? t(1) : t(6) });
      }
    });

    it("of the relay's own follows the schedule if the failure before was the relay's own, too", () => {
      const own = [unknown, { reason: "not sent", answer: null }] as const;
      for (const [first, second] of [own, [own[1], own[0]]]) {
        const again = lived(start(0), fail(1, 1, first), start(1));
        const spec = given(again).when(fail(2, 2, second));
        expect(spec.state()).to.include({ retryCount: 2, nextAttemptAt: t(2 + 300) });
        // Only directly in a row: with another failure between them, it is due at once.
        const between = [...again, ...decide(stateOf(again), fail(2, 2))];
        const later = [...between, ...decide(stateOf(between), start(400))];
        const third = fail(3, 401, { ...second, policy: { ...policy, maxTrys: 9 } });
        expect(given(later).when(third).state()).to.include({ nextAttemptAt: t(401) });
        const late = [...again, ...decide(stateOf(again), fail(1, 1.5, { reason: "timeout", answer: null }))];
        if (first.reason !== "outcome unknown") continue;
        expect(given(late).when(fail(2, 2, second)).state()).to.include({ nextAttemptAt: t(2 + 300) });
      }
    });

    it("of the relay's own counts toward maxTrys, and after a replay is the first again", () => {
      const exhausting = fail(1, 1, { ...unknown, policy: { ...policy, maxTrys: 1 } });
      const again = lived(start(0), exhausting, { type: "Replay", at: t(2) }, start(3));
      expect(given(again).when(fail(2, 4, unknown)).state()).to.include({ nextAttemptAt: t(4) });
    });

    it("is the last one when the count reaches maxTrys", () => {
      const third = lived(start(0), fail(1, 1), start(6), fail(2, 7), start(400));
      const spec = given(third).when(fail(3, 401));
      spec.gives(
        {
          type: "DeliveryFailed",
          data: { ...moved("Processing", "Failed", 401), attempt: 3, ...failure, retryCount: 3 },
        },
        {
          type: "DeliveryExhausted",
          data: { ...moved("Failed", "CriticalFailure", 401), retryCount: 3, reason: "max attempts" },
        },
      );
      expect(spec.state()).to.deep.include({ status: "CriticalFailure", retryCount: 3, nextAttemptAt: null, open: [] });
      given(processing)
        .when(fail(1, 1, { policy: { ...policy, maxTrys: 1 } }))
        .givesTypes("DeliveryFailed", "DeliveryExhausted");
    });

    it("is the last one when maxTrys was lowered below the count meanwhile", () => {
      const third = lived(start(0), fail(1, 1), start(6), fail(2, 7), start(400));
      given(third)
        .when(fail(3, 401, { policy: { ...policy, maxTrys: 1 } }))
        .givesTypes("DeliveryFailed", "DeliveryExhausted");
    });

    it("is the last one at once if the retry policy does not list its outcome", () => {
      const none = (reason: FailureReason) => ({ reason, answer: null });
      const status = (statusCode: number) => ({ reason: "status", answer: answer(statusCode) } as const);
      const rows: readonly (readonly [readonly string[] | undefined, Parameters<typeof fail>[2], boolean])[] = [
        [undefined, status(404), true], [[], status(404), false], [["404"], status(404), true],
        [["4xx"], status(404), true], [["5xx", "405"], status(404), false], [["3xx"], status(302), true],
        [["3xx"], status(199), false], [["199"], status(199), true], [["999"], status(999), true],
        [["timeout"], none("timeout"), true], [["connection"], none("timeout"), false],
        ...(["connection", "tls", "address refused", "token"] as const).flatMap((reason) => [
          [["connection"], none(reason), true] as const, [["timeout", "5xx"], none(reason), false] as const,
        ]),
        [[], unknown, true], [[], none("not sent"), true],
      ];
      for (const [retryOn, outcome, isRetried] of rows) {
        const [failed, next] = decide(stateOf(processing), fail(1, 1, { ...outcome, policy: { ...policy, retryOn } }));
        expect(failed?.type).to.equal("DeliveryFailed");
        if (isRetried) expect(next?.type).to.equal("RetryScheduled");
        else expect(next?.data).to.deep.include({ to: "CriticalFailure", retryCount: 1, reason: "not retried" });
      }
    });

    it("is the last one at once when the receiver answers 410", () => {
      const gone = { ...moved("Failed", "CriticalFailure", 1), retryCount: 1, reason: "gone" as const };
      given(processing)
        .when(fail(1, 1, { error: "HTTP 410", answer: answer(410) }))
        .gives(
          {
            type: "DeliveryFailed",
            data: {
              ...moved("Processing", "Failed", 1),
              attempt: 1,
              ...failure,
              error: "HTTP 410",
              answer: answer(410),
              retryCount: 1,
            },
          },
          { type: "DeliveryExhausted", data: gone },
        );
      for (const statusCode of [400, 404, 409, 411, 500]) {
        given(processing)
          .when(fail(1, 1, { answer: answer(statusCode) }))
          .givesTypes("DeliveryFailed", "RetryScheduled");
      }
    });

    it("becomes Cancelled where the destination was deleted meanwhile, a 410 or the last one too", () => {
      for (const change of [{}, { answer: answer(410) }, { policy: { ...policy, maxTrys: 1 } }]) {
        const spec = given(processing).when(fail(1, 1, { destinationDeleted: true, ...change }));
        spec.givesTypes("DeliveryFailed", "EventCancelled");
        expect(spec.state()).to.include({ status: "Cancelled", nextAttemptAt: null, retryCount: 1 });
      }
    });

    it("counts once, and only for an attempt that was started", () => {
      given(waitingRetry).when(fail(1, 2)).changesNothing();
      given(processing).when(fail(2, 1)).changesNothing();
      given(succeeded).when(fail(1, 2)).changesNothing();
      given([accepted]).when(fail(1, 1)).changesNothing();
    });
  });

  describe("a replay", () => {
    it("resets the count, not the attempts' numbers", () => {
      const spec = given(exhausted).when({ type: "Replay", at: t(500) });
      spec.gives({
        type: "EventReplayed",
        data: { ...moved("CriticalFailure", "Pending", 500), mode: "replay", nextAttemptAt: t(500) },
      });
      expect(spec.state()).to.deep.include({ status: "Pending", retryCount: 0, nextAttemptAt: t(500), attempts: 3 });
      const replayed = [...exhausted, ...decide(stateOf(exhausted), { type: "Replay", at: t(500) })];
      expect(given(replayed).when(start(500)).state()).to.deep.include({ attempts: 4, open: [4] });
      given(replayed).when(fail(1, 501)).changesNothing();
      given(replayed).when(succeed(3, 501)).changesNothing();
    });

    it("is possible in CriticalFailure only", () => {
      for (const status of ["Pending", "Processing", "Succeeded", "WaitingRetry", "Cancelled"] as const) {
        given(histories[status])
          .when({ type: "Replay", at: t(500) })
          .refused("invalid", status);
      }
    });

    it("is refused after 1,000 attempts, so that an event's stream is bounded", () => {
      const givenUpAfter = (attempt: number) => {
        const data = { ...moved("WaitingRetry", "Processing", 6), attempt, ...claim(6) };
        const facts: WebhookEvent[] = [...waitingRetry, { type: "DeliveryAttemptStarted", data }];
        return [...facts, ...decide(stateOf(facts), fail(attempt, 7, { policy: { ...policy, maxTrys: 2 } }))];
      };
      const replay = { type: "Replay", at: t(500) } as const;
      given(givenUpAfter(999)).when(replay).givesTypes("EventReplayed");
      for (const attempts of [1_000, 1_001]) given(givenUpAfter(attempts)).when(replay).refused("rejected", "attempts");
    });
  });

  describe("an expiry", () => {
    it("cancels an event that waits since then or longer, and no other", () => {
      const expire = (before: number) => ({ type: "Expire", before: t(before), at: t(999) }) as const;
      for (const status of eventStatuses.filter((status) => status !== "Failed")) {
        const spec = given(histories[status]).when(expire(0));
        if (status !== "Pending" && status !== "WaitingRetry") spec.changesNothing();
        else {
          const data = { ...moved(status, "Cancelled", 999), reason: "expired" as const };
          spec.gives({ type: "EventCancelled", data });
          given(histories[status]).when(expire(-1)).changesNothing();
        }
      }
    });

    it("takes the last replay for the begin of the wait", () => {
      const replayed = lived(
        start(0), fail(1, 1, { policy: { ...policy, maxTrys: 1 } }), { type: "Replay", at: t(5) }, start(6), fail(2, 7),
      );
      const expire = (before: number) => ({ type: "Expire", before: t(before), at: t(999) }) as const;
      given(replayed).when(expire(4)).changesNothing();
      given(replayed).when(expire(5)).givesTypes("EventCancelled");
    });
  });

  describe("a withdrawal of an attempt that was not made", () => {
    const withdraw = (attempt: number, seconds: number) =>
      ({ type: "Withdraw", attempt, error: "away", at: t(seconds) }) as const;
    const withdrawn = (attempt: number, to: "Pending" | "WaitingRetry", due: number, seconds: number) => ({
      type: "DeliveryAttemptWithdrawn",
      data: { ...moved("Processing", to, seconds), attempt, reason: "proxy", error: "away", nextAttemptAt: t(due) },
    } as const);

    it("leaves the event as it was before, and its number is used again", () => {
      for (const [before, to, attempt, due] of [
        [[accepted], "Pending", 1, 0], [waitingRetry, "WaitingRetry", 2, 6],
        [[...exhausted, ...decide(stateOf(exhausted), { type: "Replay", at: t(402) })], "Pending", 4, 402],
      ] as const) {
        const started = [...before, ...decide(stateOf(before), start(500))];
        const spec = given(started).when(withdraw(attempt, 501));
        spec.gives(withdrawn(attempt, to, due, 501));
        expect(spec.state()).to.deep.equal(stateOf(before));
        const again = [...started, ...decide(stateOf(started), withdraw(attempt, 501))];
        const [next] = decide(stateOf(again), start(502));
        expect(next?.data).to.include({ attempt });
        expect(withoutWithdrawn([...again, next!])).to.deep.equal([...before, next]);
      }
    });

    it("changes nothing once the attempt ended otherwise", () => {
      for (const facts of [succeeded, waitingRetry, lost, exhausted]) {
        given(facts).when(withdraw(1, 500)).changesNothing();
      }
      given(lived(start(0), fail(1, 20, unknown), start(20))).when(withdraw(1, 21)).changesNothing();
    });
  });

  describe("a cancellation", () => {
    it("ends a waiting event for good", () => {
      for (const status of ["Pending", "WaitingRetry"] as const) {
        for (const reason of ["requested", "destination deleted"] as const) {
          const spec = given(histories[status]).when(cancel(reason, 2));
          spec.gives({ type: "EventCancelled", data: { ...moved(status, "Cancelled", 2), reason } });
          expect(spec.state()).to.include({ status: "Cancelled", nextAttemptAt: null });
        }
      }
    });

    it("of an event that is not waiting is refused on request, and skipped when the destination is deleted", () => {
      for (const status of ["Processing", "Succeeded", "CriticalFailure", "Cancelled"] as const) {
        given(histories[status]).when(cancel("requested", 2)).refused("invalid", status);
        given(histories[status]).when(cancel("destination deleted", 2)).changesNothing();
      }
    });
  });
});
