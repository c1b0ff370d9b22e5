import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { PrometheusMetrics } from "../../../../src/engines/prometheus/prometheus-metrics.ts";
import { finishedStatuses } from "../../../../src/features/events/facts.ts";
import { failureReasons } from "../../../../src/kernel/domain/failure-reason.ts";
import { ingestStatuses, loginResults, anomalies } from "../../../../src/kernel/ports/telemetry.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

/** The samples of a scrape by their name with labels. */
async function samples(metrics: PrometheusMetrics): Promise<Map<string, number>> {
  const lines = (await metrics.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => {
    const at = line.lastIndexOf(" ");
    return [line.slice(0, at), Number(line.slice(at + 1))];
  }));
}

const build = { version: "1.2.3", revision: "abc" };

describe("Prometheus metrics", () => {
  it("counts and measures", async () => {
    const metrics = new PrometheusMetrics(build, new ManualClock());
    metrics.accepted();
    metrics.accepted();
    metrics.finished("CriticalFailure");
    metrics.replayed();
    metrics.ingest(202, 0.004);
    metrics.ingest(422, 0.004);
    metrics.attempt("failed", "timeout", 15);
    metrics.attempt("failed", "outcome unknown", null);
    metrics.attempt("succeeded", "none", 0.02);
    metrics.firstAttemptDelay(0.003);
    metrics.login("refused");
    metrics.anomaly("stream set aside");
    const found = await samples(metrics);
    expect(found.get('relay_build_info{version="1.2.3",revision="abc"}')).to.equal(1);
    expect(found.get("relay_events_accepted_total")).to.equal(2);
    expect(found.get('relay_events_finished_total{status="CriticalFailure"}')).to.equal(1);
    expect(found.get("relay_events_replayed_total")).to.equal(1);
    expect(found.get("relay_ingest_duration_seconds_sum")).to.equal(0.008);
    expect(found.get('relay_ingest_requests_total{status="202"}')).to.equal(1);
    expect(found.get('relay_ingest_requests_total{status="422"}')).to.equal(1);
    expect(found.get('relay_ingest_duration_seconds_bucket{le="0.0025"}')).to.equal(0);
    expect(found.get('relay_ingest_duration_seconds_bucket{le="0.005"}')).to.equal(2);
    expect(found.get('relay_delivery_attempts_total{outcome="failed",reason="timeout"}')).to.equal(1);
    expect(found.get('relay_delivery_attempts_total{outcome="succeeded",reason="none"}')).to.equal(1);
    expect(found.get('relay_delivery_attempts_total{outcome="failed",reason="outcome unknown"}')).to.equal(1);
    expect(found.get('relay_delivery_attempt_duration_seconds_sum{outcome="failed"}')).to.equal(15);
    expect(found.get('relay_delivery_attempt_duration_seconds_count{outcome="failed"}')).to.equal(1);
    expect(found.get("relay_first_attempt_delay_seconds_count")).to.equal(1);
    expect(found.get('relay_logins_total{result="refused"}')).to.equal(1);
    expect(found.get('relay_troubles_total{kind="stream set aside"}')).to.equal(1);
    expect([...found.keys()]).to.include("process_cpu_seconds_total").and.include("nodejs_eventloop_lag_p99_seconds");
  });

  it("shows all counters at 0 from the start, so that the first event is an increase", async () => {
    const found = await samples(new PrometheusMetrics(build, new ManualClock()));
    for (const kind of anomalies) expect(found.get(`relay_troubles_total{kind="${kind}"}`), kind).to.equal(0);
    for (const reason of failureReasons) {
      const series = `relay_delivery_attempts_total{outcome="failed",reason="${reason}"}`;
      expect(found.get(series), reason).to.equal(0);
    }
    expect(found.get('relay_delivery_attempts_total{outcome="succeeded",reason="none"}')).to.equal(0);
    for (const result of loginResults) {
      expect(found.get(`relay_logins_total{result="${result}"}`), result).to.equal(0);
    }
    for (const status of finishedStatuses) {
      expect(found.get(`relay_events_finished_total{status="${status}"}`), status).to.equal(0);
    }
    for (const status of ingestStatuses) {
      expect(found.get(`relay_ingest_requests_total{status="${status}"}`), String(status)).to.equal(0);
    }
  });

  it("keeps a registry of its own", async () => {
    const clock = new ManualClock();
    const [one, other] = [new PrometheusMetrics(build, clock), new PrometheusMetrics(build, clock)];
    one.accepted();
    expect((await samples(other)).get("relay_events_accepted_total")).to.equal(0);
  });

  it("reads the gauges at every scrape", async () => {
    const metrics = new PrometheusMetrics(build, new ManualClock());
    let circuits: Record<string, number> = { Open: 2, HalfOpen: 1 };
    let backlog = 7;
    metrics.watch({ backlog: () => backlog, circuits: () => Promise.resolve(circuits) });
    const before = await samples(metrics);
    expect(before.get("relay_backlog_events")).to.equal(7);
    expect(before.get('relay_circuits{position="Open"}')).to.equal(2);
    expect(before.get('relay_circuits{position="HalfOpen"}')).to.equal(1);
    [circuits, backlog] = [{ Open: 1 }, 0];
    const [after, same] = await Promise.all([samples(metrics), samples(metrics)]);
    for (const found of [after, same]) {
      expect(found.get("relay_backlog_events")).to.equal(0);
      expect(found.get('relay_circuits{position="Open"}')).to.equal(1);
      expect(found.has('relay_circuits{position="HalfOpen"}')).to.equal(false);
    }
  });

  it("waits again at the next scrape for a reading that outlasts one, and begins no other meanwhile", async () => {
    const clock = new ManualClock();
    const metrics = new PrometheusMetrics(build, clock);
    const readings: PromiseWithResolvers<number>[] = [];
    metrics.watch({ oldestDueSeconds: () => (readings.push(Promise.withResolvers()), readings.at(-1)!.promise) });
    const late = samples(metrics);
    await turn();
    clock.advance(1_000);
    expect((await late).has("relay_oldest_due_seconds")).to.equal(false);
    const next = samples(metrics);
    await turn();
    readings[0]?.resolve(3);
    expect((await next).get("relay_oldest_due_seconds")).to.equal(3);
    expect(readings).to.have.length(1);
    const anew = samples(metrics);
    await turn();
    readings[1]?.resolve(4);
    expect((await anew).get("relay_oldest_due_seconds")).to.equal(4);
  });

  it("omits a gauge whose reading fails or takes too long, and reports it", async () => {
    const clock = new ManualClock();
    const metrics = new PrometheusMetrics(build, clock);
    metrics.watch({
      backlog: () => Promise.reject(new Error("no read models")),
      oldestDueSeconds: () => { throw new Error("no read models"); },
      projectionLagSeconds: () => new Promise(() => undefined),
      keysUnderOldMasterKeys: () => 3,
      circuits: () => Promise.reject(new Error("no read models")),
    });
    const late = async () => {
      const scraped = samples(metrics);
      await turn();
      expect(clock.pending, "for what never comes").to.deep.equal([1_000]);
      clock.advance(1_000);
      return scraped;
    };
    const found = await late();
    expect([...found.keys()].filter((name) => /^relay_(backlog|oldest|projection|keys|circuits)/.test(name)))
      .to.deep.equal(["relay_keys_under_old_master_keys"]);
    expect((await late()).get('relay_troubles_total{kind="metric not readable"}')).to.be.at.least(4);
  });
});
