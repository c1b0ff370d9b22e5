import { expect } from "chai";
import fc from "fast-check";
import {
  decide, evolve, newCircuit, type Circuit, type CircuitCommand, type CircuitPosition,
} from "../../../../src/features/circuits/facts.ts";
import { millis, timestamp } from "../../../../src/kernel/domain/time.ts";
import { sized } from "../../../support/size.ts";

const startMs = Date.parse("2026-01-15T09:30:00.000Z");
const maxTrys = 3;
const timerMs = 10_000;
const leaseMs = 4000;

/** One step of a worker; events are named by a digit. */
interface Step {
  readonly afterMs: number;
  readonly do:
    | "succeed" | "fail" | "fail late" | "go missing" | "429" | "claim" | "release" | "half-open" | "activate";
  readonly event: string;
}

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    afterMs: fc.constantFrom(0, 1, 1000, leaseMs, timerMs - 1, timerMs),
    do: fc.oneof(
      { weight: 2, arbitrary: fc.constant("succeed" as const) },
      { weight: 6, arbitrary: fc.constant("fail" as const) },
      { weight: 3, arbitrary: fc.constantFrom("fail late" as const, "go missing" as const, "429" as const) },
      { weight: 5, arbitrary: fc.constant("claim" as const) },
      { weight: 2, arbitrary: fc.constantFrom("release" as const, "half-open" as const) },
      { weight: 1, arbitrary: fc.constant("activate" as const) },
    ),
    event: fc.constantFrom("1", "2", "3"),
  }),
  { maxLength: 80 },
);

/** The circuit breaker as specified in decisions.md, with the probe's lease timed by an exact clock. */
interface Model {
  position: CircuitPosition;
  failures: number;
  openUntil: number;
  probe: { event: string; until: number } | null;
  lastProbe: string | null;
  pausedUntil: number;
}

/** The pause that a receiver asks for with 429, ms. */
const pauseMs = 1_500;

/** Whether the step changes anything. Changes the model accordingly. */
function step(model: Model, { do: action, event }: Step, now: number): boolean {
  const open = () =>
    Object.assign(model, { position: "Open", failures: model.failures + 1, openUntil: now + timerMs, probe: null });
  const close = () => Object.assign(model, { position: "Closed", failures: 0, probe: null, lastProbe: null });
  const timerEnded = model.position === "HalfOpen" || (model.position === "Open" && now >= model.openUntil);
  const probing = model.probe !== null && now < model.probe.until;
  const isProbe = model.probe?.event === event;
  switch (action) {
    case "succeed":
    case "fail":
      if (model.position === "Closed") {
        if (action === "succeed" && model.failures === 0) return false;
        if (action === "succeed") model.failures = 0;
        else if (model.failures + 1 >= maxTrys) open();
        else model.failures += 1;
        return true;
      }
      if (!isProbe) return false;
      if (action === "succeed") close();
      else {
        model.lastProbe = event;
        open();
      }
      return true;
    case "fail late":
      return model.position === "Closed" && step(model, { afterMs: 0, do: "fail", event }, now);
    case "go missing":
    case "429": {
      const isLonger = action === "429" && now + pauseMs > model.pausedUntil;
      if (isLonger) model.pausedUntil = now + pauseMs;
      if (isProbe) Object.assign(model, { probe: null, lastProbe: event });
      return isLonger || isProbe;
    }
    case "claim":
      if (!timerEnded || probing) return false;
      if (model.probe) model.lastProbe = model.probe.event;
      model.probe = { event, until: now + leaseMs };
      return true;
    case "release":
      if (!isProbe) return false;
      model.probe = null;
      return true;
    case "half-open":
      if (model.position !== "Open" || !timerEnded || probing) return false;
      if (model.probe) model.lastProbe = model.probe.event;
      Object.assign(model, { position: "HalfOpen", probe: null });
      return true;
    case "activate":
      if (model.position === "Closed" && model.failures === 0 && model.pausedUntil <= now) return false;
      model.pausedUntil = 0;
      close();
      return true;
  }
}

function command({ do: action, event: eventId }: Step, model: Model, now: number): CircuitCommand {
  const at = timestamp(now);
  const probe = model.probe && { eventId: model.probe.event, leaseUntil: timestamp(model.probe.until) };
  const lost = model.probe && now >= model.probe.until ? probe : null;
  switch (action) {
    case "succeed":
    case "fail":
    case "fail late": {
      const [ok, late] = [action === "succeed", action === "fail late"];
      return { type: "Record", late, ok, eventId, maxTrys, timerS: timerMs / 1000, at };
    }
    case "go missing":
    case "429": {
      const pausedUntil = action === "429" ? timestamp(now + pauseMs) : null;
      return { type: "EndUncounted", late: false, eventId, pausedUntil, at };
    }
    case "claim":
      return { type: "ClaimProbe", eventId, leaseUntil: timestamp(now + leaseMs), lost, at };
    case "release":
      return { type: "ReleaseProbe", probe: { eventId, leaseUntil: timestamp(model.probe?.until ?? now) }, at };
    case "half-open":
      return { type: "HalfOpen", lost, at };
    case "activate":
      return { type: "Close", at };
  }
}

describe("circuit, against a model", () => {
  it("moves only as specified, with one probe at most, for commands in any order", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(steps, (rows) => {
        let now = startMs;
        let state: Circuit = newCircuit("d", "t");
        const model: Model = {
          position: "Closed", failures: 0, openUntil: 0, probe: null, lastProbe: null, pausedUntil: 0,
        };
        for (const row of rows) {
          now += row.afterMs;
          const before = state;
          const facts = decide(state, command(row, model, now));
          expect(facts.length > 0, `${row.do} of ${row.event} in ${JSON.stringify(before)}`).to.equal(
            step(model, row, now),
          );
          expect(facts.length).to.be.at.most(1);
          for (const fact of facts) {
            state = evolve(state, fact);
            seen.add(`${before.position}>${state.position} ${fact.type}`);
          }
          expect({
            position: state.position,
            failures: state.failures,
            probe: state.probe?.eventId ?? null,
            openUntil: state.openUntil === null ? null : millis(state.openUntil),
            lastProbe: state.lastProbe ?? null,
            pausedFor: Math.max(0, millis(state.pausedUntil ?? timestamp(0)) - now),
          }).to.deep.equal({
            position: model.position,
            failures: model.failures,
            probe: model.probe?.event ?? null,
            openUntil: model.position === "Open" ? model.openUntil : null,
            lastProbe: model.lastProbe,
            pausedFor: Math.max(0, model.pausedUntil - now),
          });
          if (state.position === "Closed") expect(state.failures).to.be.below(maxTrys);
        }
      }),
      { numRuns: sized(1500, 10_000) },
    );
    expect([...seen].sort(), "every specified move was met, and no other").to.deep.equal([
      "Closed>Closed CircuitClosed",
      "Closed>Closed CircuitCounted",
      "Closed>Open CircuitOpened",
      "HalfOpen>Closed CircuitClosed",
      "HalfOpen>HalfOpen CircuitCounted",
      "HalfOpen>HalfOpen CircuitProbeClaimed",
      "HalfOpen>HalfOpen CircuitProbeReleased",
      "HalfOpen>Open CircuitOpened",
      "Open>Closed CircuitClosed",
      "Open>HalfOpen CircuitHalfOpened",
      "Open>Open CircuitCounted",
      "Open>Open CircuitOpened",
      "Open>Open CircuitProbeClaimed",
      "Open>Open CircuitProbeReleased",
    ]);
  });
});
