import { expect } from "chai";
import { createFailures } from "../../../../src/http/answers/errors.ts";
import { Refusal } from "../../../../src/kernel/domain/refusal.ts";
import { LogUnavailable } from "../../../../src/kernel/ports/event-store.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { quiet, uncounted } from "../../../support/telemetry.ts";

type Line = Readonly<Record<string, unknown>>;

describe("log lines about failed requests", () => {
  let clock: ManualClock;
  let lines: Line[];
  let anomalies: string[];
  let fail: ReturnType<typeof createFailures>;
  beforeEach(() => {
    clock = new ManualClock();
    [lines, anomalies] = [[], []];
    const keep = (fields: object, message: string) => void lines.push({ ...fields, message });
    const metrics = { ...uncounted, anomaly: (kind: string) => void anomalies.push(kind) };
    fail = createFailures({ clock, metrics, logger: { ...quiet, warn: keep, error: keep } });
  });
  const overloaded = (times: number) => {
    for (let n = 0; n < times; n += 1) {
      expect(fail(new Refusal("unavailable", "too many wait"), `request ${n}`).status).to.equal(503);
    }
  };

  it("are one for a flood with one reason, then one every 10 s with the number", () => {
    overloaded(1_000);
    expect(lines).to.deep.equal([
      { reason: "too many wait", requestId: "request 0", message: "a request could not be served" },
    ]);
    clock.advance(10_000);
    overloaded(5);
    clock.advance(10_000);
    expect(lines.slice(1)).to.deep.equal([
      { reason: "too many wait", requests: 999, message: "more requests could not be served" },
      { reason: "too many wait", requests: 5, message: "more requests could not be served" },
    ]);
    clock.advance(10_000);
    expect([lines.length, clock.pending.length]).to.deep.equal([3, 0]);
    overloaded(1);
    expect(lines).to.have.length(4);
  });

  it("are separate for each reason, with an engine's error, for up to 100 reasons at a time", () => {
    overloaded(2);
    const away = new LogUnavailable("the log is away");
    for (let n = 0; n < 3; n += 1) fail(away, "a");
    expect(lines.map(({ reason, err }) => [reason, err])).to.deep.equal([
      ["too many wait", undefined], ["LogUnavailable: the log is away", away],
    ]);
    for (let n = 0; n < 500; n += 1) fail(new Refusal("unavailable", `record ${n}`), "a");
    expect(lines).to.have.length(101);
    expect(lines.at(-1)).to.include({ reason: "many reasons" });
    expect(clock.pending).to.have.length(101);
  });

  it("are written for each defect, and for no error of a caller", () => {
    const [err, requests] = [new Error("a bug"), ["request 0", "request 1", "request 2"]];
    for (const requestId of requests) fail(err, requestId);
    expect(lines).to.deep.equal(requests.map((requestId) => ({ err, requestId, message: "a request failed" })));
    expect(anomalies).to.deep.equal(requests.map(() => "request failed"));
    for (const kind of ["invalid", "unauthenticated", "too-many"] as const) fail(new Refusal(kind, "x"), "a");
    expect(lines).to.have.length(3);
  });
});
