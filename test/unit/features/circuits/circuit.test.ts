import { expect } from "chai";
import {
  decide, evolve, mayProbe, newCircuit, type Circuit, type CircuitCommand, type CircuitEvent, type Probe,
} from "../../../../src/features/circuits/facts.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import { folded, specificationsOf } from "../../../support/given.ts";

const id = (last: number) => `0193a1b2-c3d4-7000-8000-00000000000${last}`;
const [e1, e2] = [id(7), id(8)];
const initial = () => newCircuit(id(3), id(1));
const circuit = { initial, evolve, decide };
const given = specificationsOf(circuit);

const startMs = Date.parse("2026-01-15T09:30:00.000Z");
const t = (seconds: number) => timestamp(startMs + seconds * 1000);
const record = (ok: boolean, eventId: string, seconds: number, maxTrys = 3): CircuitCommand => ({
  type: "Record",
  ok,
  late: false,
  eventId,
  maxTrys,
  timerS: 300,
  at: t(seconds),
});
const claim = (eventId: string, seconds: number, lost: Probe | null = null): CircuitCommand => ({
  type: "ClaimProbe",
  eventId,
  leaseUntil: t(seconds + 20),
  lost,
  at: t(seconds),
});
const release = (claimed: Probe | null, seconds: number): CircuitCommand => ({
  type: "ReleaseProbe",
  probe: claimed ?? probe("none", seconds),
  at: t(seconds),
});
const halfOpen = (seconds: number, lost: Probe | null = null): CircuitCommand => ({
  type: "HalfOpen",
  lost,
  at: t(seconds),
});
const uncounted = (eventId: string, seconds: number, pausedUntil: number | null, late = false): CircuitCommand => ({
  type: "EndUncounted",
  late,
  eventId,
  pausedUntil: pausedUntil === null ? null : t(pausedUntil),
  at: t(seconds),
});
const close = (seconds: number): CircuitCommand => ({ type: "Close", at: t(seconds) });

const fact = (type: CircuitEvent["type"], change: Partial<Circuit>, seconds: number, eventId: string | null = null) =>
  ({ type, data: { ...initial(), ...change, eventId, at: t(seconds) } }) as CircuitEvent;
const probe = (eventId: string, seconds: number) => ({ eventId, leaseUntil: t(seconds + 20) });

const counted = fact("CircuitCounted", { failures: 2 }, 1, e2);
const opened = fact("CircuitOpened", { position: "Open", failures: 3, openUntil: t(302) }, 2, e1);
const half = fact("CircuitHalfOpened", { position: "HalfOpen", failures: 3 }, 302);
const openClaimed = fact(
  "CircuitProbeClaimed",
  { position: "Open", failures: 3, openUntil: t(302), probe: probe(e1, 302) },
  302,
  e1,
);
const halfClaimed = fact("CircuitProbeClaimed", { position: "HalfOpen", failures: 3, probe: probe(e1, 310) }, 310, e1);
const closed = (seconds: number, eventId?: string) => fact("CircuitClosed", {}, seconds, eventId);

describe("circuit", () => {
  describe("a failure of the outbound proxy", () => {
    const failed = (problem: string, seconds: number): CircuitCommand =>
      ({ type: "FailProxy", problem, at: t(seconds) });
    const recovered: CircuitCommand = { type: "RecoverProxy", at: t(9) };
    const fails = fact("OutboundProxyFailed", { proxyProblem: "away" }, 5);

    it("is recorded once, and ends once", () => {
      given([]).when(failed("away", 5)).gives(fails);
      given([fails]).when(failed("refused", 6)).changesNothing();
      given([fails]).when(recovered).gives(fact("OutboundProxyRecovered", {}, 9));
      given([]).when(recovered).changesNothing();
    });

    it("changes neither the position nor the counts", () => {
      const { eventId: _, at: __, ...state } = opened.data;
      given([opened]).when(failed("away", 5))
        .gives({ type: "OutboundProxyFailed", data: { ...state, proxyProblem: "away", eventId: null, at: t(5) } });
      given([fails]).when(record(false, e1, 6))
        .gives(fact("CircuitCounted", { failures: 1, proxyProblem: "away" }, 6, e1));
    });
  });

  describe("a success that is not written yet", () => {
    const end: CircuitCommand = { type: "EndCount", eventId: e1, at: t(5) };

    it("ends the count of a closed circuit", () => {
      given([counted]).when(end).gives(fact("CircuitCounted", { failures: 0 }, 5, e1));
      given([]).when(end).changesNothing();
    });

    it("does not change a circuit that is not closed", () => {
      given([opened]).when(end).changesNothing();
      given([opened, openClaimed]).when(end).changesNothing();
      given([opened, half]).when(end).changesNothing();
    });
  });

  describe("an outcome that comes late, after its attempt was given up", () => {
    const late = (ok: boolean, eventId: string) => ({ ...record(ok, eventId, 5), late: true }) as CircuitCommand;

    it("counts if it is a failure, since the lost attempt was not counted", () => {
      given([fact("CircuitCounted", { failures: 1 }, 0)]).when(late(false, e2))
        .gives(fact("CircuitCounted", { failures: 2 }, 5, e2));
    });

    it("ends the count if it is a success and the circuit is closed", () => {
      given([counted]).when(late(true, e1)).gives(fact("CircuitCounted", { failures: 0 }, 5, e1));
    });

    it("neither closes nor reopens a circuit that another attempt at the same event probes", () => {
      given([opened, openClaimed]).when(late(true, e1)).changesNothing();
      given([opened, openClaimed]).when(late(false, e1)).changesNothing();
    });
  });

  describe("an attempt that failed by the relay's own fault, or was answered 429", () => {
    it("is not counted, and does not end a count", () => {
      given([]).when(uncounted(e1, 2, null)).changesNothing();
      given([counted]).when(uncounted(e1, 2, null)).changesNothing();
      given([counted]).when(uncounted(e1, 2, 3))
        .gives(fact("CircuitCounted", { failures: 2, pausedUntil: t(3) }, 2, e1));
    });

    it("releases the probe, so that another may start, and neither closes the circuit nor opens it again", () => {
      for (const past of [openClaimed, halfClaimed]) {
        const state = folded(circuit, [past]);
        const released = { ...state, probe: null, lastProbe: e1 };
        given([past]).when(uncounted(e1, 320, null)).gives(fact("CircuitProbeReleased", released, 320, e1));
        given([past]).when(uncounted(e1, 320, 330))
          .gives(fact("CircuitProbeReleased", { ...released, pausedUntil: t(330) }, 320, e1));
        given([past]).when(uncounted(e2, 320, null)).changesNothing();
        given([past]).when(uncounted(e1, 320, null, true)).changesNothing();
        given([past, ...decide(state, uncounted(e1, 320, null))]).when(claim(e2, 321))
          .givesTypes("CircuitProbeClaimed");
      }
    });

    it("records the receiver's pause in every position of the circuit; the longest pause applies", () => {
      for (const past of [fact("CircuitClosed", {}, 1), opened, half, halfClaimed]) {
        const paused = decide(folded(circuit, [past]), uncounted(e2, 311, 320));
        expect(paused.map(({ data }) => data)).to.deep.equal(
          [{ ...folded(circuit, [past]), pausedUntil: t(320), eventId: e2, at: t(311) }]);
        for (const shorter of [null, 315, 320]) {
          given([past, ...paused]).when(uncounted(e2, 312, shorter)).changesNothing();
        }
        given([past, ...paused]).when(uncounted(e2, 312, 321)).givesTypes("CircuitCounted");
      }
      given([]).when(uncounted(e1, 2, 2)).changesNothing();
    });
  });

  describe("a pause", () => {
    const paused = fact("CircuitCounted", { failures: 1, pausedUntil: t(10) }, 1, e1);

    it("is repeated in later facts until it is over", () => {
      given([paused]).when(record(false, e2, 9)).gives(
        fact("CircuitCounted", { failures: 2, pausedUntil: t(10) }, 9, e2));
      given([paused]).when(record(false, e2, 10)).gives(fact("CircuitCounted", { failures: 2 }, 10, e2));
      const probed = { position: "HalfOpen", failures: 3, probe: probe(e1, 5) } as const;
      given([fact("CircuitProbeClaimed", { ...probed, pausedUntil: t(10), lastProbe: e2 }, 5, e1)])
        .when(record(true, e1, 6)).gives(fact("CircuitClosed", { pausedUntil: t(10) }, 6, e1));
    });

    it("ends when a person sets the destination active", () => {
      const only = fact("CircuitCounted", { pausedUntil: t(10) }, 1, e1);
      given([only]).when(close(2)).gives(closed(2));
      given([only]).when(close(10)).changesNothing();
    });
  });

  it("starts closed, and carries its whole state in every fact", () => {
    expect(initial()).to.deep.equal({
      destinationId: id(3),
      tenantId: id(1),
      position: "Closed",
      failures: 0,
      openUntil: null,
      probe: null,
    });
    for (const each of [counted, opened, half, openClaimed, halfClaimed, closed(1)]) {
      const { eventId: _eventId, at: _at, ...state } = each.data;
      expect(folded(circuit, [opened, each])).to.deep.equal(state);
    }
  });

  describe("closed", () => {
    it("counts failures in a row, of any event", () => {
      given([])
        .when(record(false, e1, 1))
        .gives(fact("CircuitCounted", { failures: 1 }, 1, e1));
      given([fact("CircuitCounted", { failures: 1 }, 0)])
        .when(record(false, e2, 1))
        .gives(counted);
    });

    it("resets the count at any success, and writes no fact for further successes", () => {
      given([counted])
        .when(record(true, e2, 2))
        .gives(fact("CircuitCounted", { failures: 0 }, 2, e2));
      given([])
        .when(record(true, e1, 1))
        .changesNothing();
      given([fact("CircuitCounted", { failures: 0 }, 0)])
        .when(record(true, e1, 1))
        .changesNothing();
    });

    it("opens for the tenant's timer when the count reaches maxTrys", () => {
      given([counted])
        .when(record(false, e1, 2))
        .gives(opened);
      given([])
        .when(record(false, e1, 2, 1))
        .gives(fact("CircuitOpened", { position: "Open", failures: 1, openUntil: t(302) }, 2, e1));
      given([counted])
        .when(record(false, e1, 2, 4))
        .gives(fact("CircuitCounted", { failures: 3 }, 2, e1));
    });

    it("opens at the next failure when maxTrys was lowered below the count", () => {
      given([counted])
        .when(record(false, e1, 2, 1))
        .givesTypes("CircuitOpened");
    });

    it("takes no probe and does not become half-open", () => {
      for (const past of [[], [counted]]) {
        given(past)
          .when(claim(e1, 1, probe(e1, 1)))
          .changesNothing();
        given(past).when(halfOpen(1, probe(e1, 1))).changesNothing();
        given(past).when(release(probe(e1, 1), 1)).changesNothing();
      }
    });

    it("resets the count when a person sets the destination active", () => {
      given([counted]).when(close(2)).gives(closed(2));
      given([]).when(close(2)).changesNothing();
    });
  });

  describe("open", () => {
    it("is neither prolonged nor closed by attempts that were under way", () => {
      for (const seconds of [3, 301, 302, 1000]) {
        for (const ok of [true, false])
          given([opened])
            .when(record(ok, e1, seconds))
            .changesNothing();
      }
    });

    it("lets no probe start before the timer ended, with or without a lost lease", () => {
      for (const lost of [probe(e1, 1), null]) {
        given([opened])
          .when(claim(e1, 301.999, lost))
          .changesNothing();
        given([opened]).when(halfOpen(301.999, lost)).changesNothing();
      }
    });

    it("lets one probe start once the timer ended", () => {
      given([opened]).when(claim(e1, 302)).gives(openClaimed);
      given([openClaimed]).when(claim(e2, 303)).changesNothing();
      given([openClaimed]).when(claim(e1, 303)).changesNothing();
      given([openClaimed]).when(halfOpen(303)).changesNothing();
    });

    it("becomes half-open once the timer ended with nothing held", () => {
      given([opened]).when(halfOpen(302)).gives(half);
    });

    it("closes when a person sets the destination active, before the timer ended and during a probe too", () => {
      given([opened]).when(close(3)).gives(closed(3));
      given([openClaimed]).when(close(303)).gives(closed(303));
    });
  });

  describe("half-open", () => {
    it("takes the next event as the only probe", () => {
      given([half]).when(claim(e1, 310)).gives(halfClaimed);
      given([halfClaimed]).when(claim(e2, 311)).changesNothing();
    });

    it("is not changed by attempts that began earlier", () => {
      for (const past of [[half], [halfClaimed]]) {
        for (const ok of [true, false])
          given(past)
            .when(record(ok, e2, 311))
            .changesNothing();
      }
    });

    it("does not become half-open again", () => {
      given([half]).when(halfOpen(310)).changesNothing();
      given([halfClaimed]).when(halfOpen(400, halfClaimed.data.probe)).changesNothing();
    });

    it("closes when a person sets the destination active", () => {
      given([half]).when(close(310)).gives(closed(310));
    });
  });

  describe("the probe", () => {
    for (const [where, past] of [
      ["an open", openClaimed],
      ["a half-open", halfClaimed],
    ] as const) {
      it(`closes ${where} circuit by its success`, () => {
        given([past])
          .when(record(true, e1, 320))
          .gives(closed(320, e1));
      });

      it(`opens ${where} circuit again by its failure, for the same time`, () => {
        given([past])
          .when(record(false, e1, 320))
          .gives(fact("CircuitOpened", { position: "Open", failures: 4, openUntil: t(620), lastProbe: e1 }, 320, e1));
      });

      it(`is released in ${where} circuit when there was nothing to try`, () => {
        const state = folded(circuit, [past]);
        given([past])
          .when(release(past.data.probe, 320))
          .gives(fact("CircuitProbeReleased", { ...state, probe: null }, 320, e1));
        given([past]).when(release(probe(e2, 302), 320)).changesNothing();
        const released = decide(state, release(past.data.probe, 320));
        given(released).when(claim(e2, 321)).givesTypes("CircuitProbeClaimed");
        given(released)
          .when(record(true, e1, 321))
          .changesNothing();
      });

      it(`is replaced in ${where} circuit once its lease is over, and its outcome then no longer counts`, () => {
        const spec = given([past]).when(claim(e2, 400, past.data.probe));
        spec.givesTypes("CircuitProbeClaimed");
        expect(spec.state()).to.deep.include({ probe: probe(e2, 400), lastProbe: e1 });
        const state = folded(circuit, [past]);
        const replaced = decide(state, claim(e2, 400, past.data.probe));
        for (const ok of [true, false])
          given(replaced)
            .when(record(ok, e1, 401))
            .changesNothing();
        given(replaced).when(release(past.data.probe, 401)).changesNothing();
      });

      it(`stays in ${where} circuit when an earlier one with the same event is released`, () => {
        const state = folded(circuit, [past]);
        const replaced = decide(state, claim(e1, 400, past.data.probe));
        given(replaced).when(release(past.data.probe, 401)).changesNothing();
      });

      it(`stays in ${where} circuit when the replaced one is seen as lost`, () => {
        const replaced = [past, ...decide(folded(circuit, [past]), claim(e2, 400, past.data.probe))];
        given(replaced).when(claim(e1, 401, past.data.probe)).changesNothing();
        given(replaced).when(halfOpen(401, past.data.probe)).changesNothing();
      });
    }

    it("makes the circuit half-open if it was lost with nothing held", () => {
      given([openClaimed])
        .when(halfOpen(400, openClaimed.data.probe))
        .gives(fact("CircuitHalfOpened", { position: "HalfOpen", failures: 3, lastProbe: e1 }, 400));
    });
  });

  it("remembers the last probe of an outage until the outage is over", () => {
    const again = decide(folded(circuit, [openClaimed]), record(false, e1, 320));
    given(again).when(claim(e2, 620)).gives(fact("CircuitProbeClaimed", {
      position: "Open", failures: 4, openUntil: t(620), probe: probe(e2, 620), lastProbe: e1,
    }, 620, e2));
    const second = decide(folded(circuit, again), claim(e2, 620));
    given(second).when(record(true, e2, 630)).gives(closed(630, e2));
    given(second).when(close(630)).gives(closed(630));
    given(second).when(release(probe(e2, 620), 630)).gives(fact("CircuitProbeReleased", {
      position: "Open", failures: 4, openUntil: t(620), lastProbe: e1,
    }, 630, e2));
  });

  it("may be probed when open past the timer, or half-open", () => {
    const [openState, halfState] = [folded(circuit, [opened]), folded(circuit, [half])];
    expect(mayProbe(initial(), t(10_000))).to.equal(false);
    expect(mayProbe(openState, t(301.999))).to.equal(false);
    expect(mayProbe(openState, t(302))).to.equal(true);
    expect(mayProbe(halfState, t(0))).to.equal(true);
  });
});
