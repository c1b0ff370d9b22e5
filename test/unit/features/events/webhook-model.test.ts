import { expect } from "chai";
import fc from "fast-check";
import { decide, type WebhookCommand } from "../../../../src/features/events/decide.ts";
import { evolve, type EventStatus, type Webhook, type WebhookEvent } from "../../../../src/features/events/facts.ts";
import { Refusal } from "../../../../src/kernel/domain/refusal.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import { sized } from "../../../support/size.ts";

const startMs = Date.parse("2026-01-15T09:30:00.000Z");
const maxTrys = 4;
const waitMs = 5000;
const ids = { eventId: "e", tenantId: "t", destinationId: "d" };

/** A step, and the time that passes before it. `back` counts attempts back from the newest. */
type Step = { readonly afterMs: number } & (
  | { readonly do: "start" | "replay" | "resend" | "retry" | "cancel" | "delete" }
  | { readonly do: "succeed"; readonly back: number }
  | { readonly do: "fail"; readonly back: number; readonly lost: boolean; readonly gone: boolean }
);

const back = fc.constantFrom(0, 0, 1, 2, 3, -1);
const seldom = fc.nat(9).map((n) => n === 9);
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc
    .tuple(
      fc.constantFrom(60_000, waitMs, waitMs - 1, 1, 0),
      // Weighted so that histories are long: late outcomes, replays and resends are the difficult cases.
      fc.oneof(
        { weight: 20, arbitrary: fc.record({ do: fc.constant("start" as const) }) },
        { weight: 2, arbitrary: fc.record({ do: fc.constant("succeed" as const), back }) },
        {
          weight: 20,
          arbitrary: fc.record({ do: fc.constant("fail" as const), back, lost: fc.boolean(), gone: seldom }),
        },
        { weight: 8, arbitrary: fc.record({ do: fc.constantFrom("replay" as const, "resend" as const) }) },
        { weight: 2, arbitrary: fc.record({ do: fc.constant("retry" as const) }) },
        { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("cancel" as const, "delete" as const) }) },
      ),
    )
    .map(([afterMs, step]) => ({ afterMs, ...step })),
  { maxLength: 60 },
);

/** An event by the specification's tables, written down a second time in the simplest form. */
interface Model {
  status: EventStatus;
  due: number;
  /** The state of each attempt, the first one first. */
  attempts: ("under way" | "lost" | "over")[];
  failures: number;
  /** Whether the newest failure was a lost worker's. */
  wasLost: boolean;
  /** How many attempts there were at the last resend. */
  resentAfter: number;
  deliveredAt: number | null;
  deleted: boolean;
}

/** The moves a step must make, as `from>to`, or "refused". Changes the model accordingly. */
function expected(model: Model, step: Step, now: number): readonly string[] | "refused" {
  const moves: string[] = [];
  const go = (to: EventStatus) => {
    moves.push(`${model.status}>${to}`);
    model.status = to;
  };
  const waits = model.status === "Pending" || model.status === "WaitingRetry";
  switch (step.do) {
    case "start":
      if (waits && now >= model.due) {
        model.attempts.push("under way");
        go("Processing");
      }
      return moves;
    case "retry":
      if (model.status !== "WaitingRetry") return "refused";
      if (now < model.due) {
        model.due = now;
        go("WaitingRetry");
      }
      return moves;
    case "replay":
    case "resend":
      if (!(step.do === "replay" ? ["CriticalFailure"] : ["CriticalFailure", "Succeeded"]).includes(model.status)) {
        return "refused";
      }
      if (step.do === "resend") model.resentAfter = model.attempts.length;
      model.failures = 0;
      model.wasLost = false;
      model.due = now;
      go("Pending");
      return moves;
    case "cancel":
      if (!waits) return "refused";
      go("Cancelled");
      return moves;
    case "delete":
      model.deleted = true;
      if (waits) go("Cancelled");
      return moves;
    case "succeed": {
      const known = model.attempts.at(-1 - step.back);
      if (step.back < 0 || known === undefined || known === "over") return moves;
      const at = model.attempts.length - 1 - step.back;
      model.attempts[at] = "over";
      if (model.status === "Cancelled" || at < model.resentAfter) go(model.status);
      else {
        if (model.status !== "Succeeded") model.deliveredAt = now;
        go("Succeeded");
      }
      return moves;
    }
    case "fail": {
      const known = model.attempts.at(-1 - step.back);
      if (step.back < 0 || known === undefined || known === "over" || (known === "lost" && step.lost)) return moves;
      model.attempts[model.attempts.length - 1 - step.back] = step.lost ? "lost" : "over";
      if (step.back > 0 || model.status !== "Processing") {
        go(model.status);
        return moves;
      }
      model.failures += 1;
      go("Failed");
      if (model.deleted) {
        go("Cancelled");
      } else if (step.gone || model.failures >= maxTrys) {
        go("CriticalFailure");
      } else {
        model.due = step.lost && !model.wasLost ? now : now + waitMs;
        go("WaitingRetry");
      }
      model.wasLost = step.lost;
      return moves;
    }
  }
}

function command(step: Step, state: Webhook, model: Model, at: string): WebhookCommand {
  const exchange = { durationMs: 1, requestHeaders: {}, at };
  switch (step.do) {
    case "start":
      return {
        type: "StartAttempt",
        at,
        with: {
          leaseUntil: at,
          worker: "w",
          url: "https://a.example/",
          authType: null,
          destinationRevision: 0,
          secretFingerprint: "f",
          probe: false,
        },
      };
    case "replay":
      return { type: "Replay", at };
    case "resend":
      return { type: "Resend", at };
    case "retry":
      return { type: "BringForward", at };
    case "cancel":
      return { type: "Cancel", reason: "requested", at };
    case "delete":
      return { type: "Cancel", reason: "destination deleted", at };
    case "succeed": {
      const answer = { statusCode: 200, headers: {}, body: "", truncated: false };
      return { type: "Succeed", attempt: state.attempts - step.back, answer, ...exchange };
    }
    case "fail": {
      const answer = step.gone && !step.lost ? { statusCode: 410, headers: {}, body: "", truncated: false } : null;
      return {
        type: "Fail",
        attempt: state.attempts - step.back,
        reason: step.lost ? "outcome unknown" : "status",
        error: "",
        answer,
        retryAfterMs: null,
        policy: { scheduleMs: [waitMs], jitter: 0.1, maxTrys },
        destinationDeleted: model.deleted,
        random: 0,
        ...exchange,
      };
    }
  }
}

function decided(state: Webhook, what: WebhookCommand): readonly WebhookEvent[] | "refused" {
  try {
    return decide(state, what);
  } catch (error) {
    if (error instanceof Refusal) return "refused";
    throw error;
  }
}

/** The moves of the specification's table, of decisions.md, and of late outcomes; nothing else ever happens. */
const specified = new Set([
  "Pending>Processing",
  "WaitingRetry>Processing",
  "Processing>Succeeded",
  "Processing>Failed",
  "Failed>WaitingRetry",
  "Failed>CriticalFailure",
  "Failed>Cancelled",
  "Pending>Cancelled",
  "WaitingRetry>Cancelled",
  "CriticalFailure>Pending",
  "Succeeded>Pending",
  "Pending>Succeeded",
  "WaitingRetry>Succeeded",
  "CriticalFailure>Succeeded",
]);

/**
 * The rarest history: an attempt was given up as lost, perhaps the event replayed or resent, and the attempt had
 * succeeded.
 */
function lateSuccess(...between: readonly ("replay" | "resend")[]): readonly Step[] {
  const failing = Array.from({ length: maxTrys }, (): readonly Step[] => [
    { afterMs: 60_000, do: "start" },
    { afterMs: 1, do: "fail", back: 0, lost: true, gone: false },
  ]);
  const then = between.map((what): Step => ({ afterMs: 1, do: what }));
  return [...failing.flat(), ...then, { afterMs: 1, do: "succeed", back: maxTrys - 1 }];
}

describe("webhook event, against a model", () => {
  it("moves only as specified, for commands in any order", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(steps, (rows) => {
        let now = startMs;
        const submission = {
          ...ids,
          apiKeyId: "k",
          senderId: null,
          senderRevision: null,
          idempotencyKey: null,
          payload: "{}",
          original: null,
        };
        const [accepted] = decide(undefined, { type: "Accept", event: submission, at: timestamp(now) });
        let state = accepted && evolve(undefined, accepted);
        const model: Model = {
          status: "Pending", due: now, attempts: [], failures: 0, wasLost: false, resentAfter: 0, deliveredAt: null,
          deleted: false,
        };
        const started: number[] = [];
        for (const step of rows) {
          now += step.afterMs;
          if (!state) return expect.fail("the event is gone");
          const before = model.status;
          const gone = step.do === "fail" && step.gone && !step.lost;
          const real = decided(state, command(step, state, model, timestamp(now)));
          const wanted = expected(model, step.do === "fail" ? { ...step, gone } : step, now);
          if (real === "refused" || wanted === "refused") {
            expect(real).to.equal(wanted);
            continue;
          }
          const moves = real.map(({ data }) => ("to" in data ? `${data.from}>${data.to}` : ""));
          expect(moves, `${step.do} in ${before}`).to.deep.equal(wanted);
          for (const fact of real) {
            state = evolve(state, fact);
            if (fact.type === "DeliveryAttemptStarted") started.push(fact.data.attempt);
            if ("to" in fact.data && fact.data.from !== fact.data.to) seen.add(`${fact.data.from}>${fact.data.to}`);
          }
          const over = ["Succeeded", "CriticalFailure", "Cancelled"].includes(model.status);
          expect(state).to.deep.include({
            status: model.status,
            retryCount: model.failures,
            attempts: model.attempts.length,
            open: model.attempts.flatMap((known, index) => (known === "under way" ? [index + 1] : [])),
          });
          expect(state?.nextAttemptAt === null).to.equal(over);
          expect(state?.deliveredAt).to.equal(model.deliveredAt === null ? null : timestamp(model.deliveredAt));
        }
        expect(started, "numbers never restart").to.deep.equal(started.map((_, index) => index + 1));
      }),
      { numRuns: sized(1500, 10_000), examples: [[lateSuccess("replay")], [lateSuccess("resend")], [lateSuccess()]] },
    );
    expect([...seen].sort(), "every specified move was met, and no other").to.deep.equal([...specified].sort());
  });
});
