import { ApiClient } from "../test/support/api-client.ts";
import { waitedForCore } from "./support/cpu.ts";
import { delayOf, type Delay } from "./support/event-loop.ts";
import type { Figure, LedgerLine, Report } from "./support/report.ts";
import { rounds, sized } from "./support/size.ts";
import { Stage, type Measured, type Subject } from "./support/stage.ts";
import { percentilesOf, type Percentiles } from "./support/statistics.ts";

const destinations = 20;
const connections = 100;
const fullMs = sized(2_000, 8_000);
const seconds = sized(5, 30);
const share = 0.8;
const loginsPerSecond = 2;
const passwordCost = "12";
/** A login counts as a failed one until it has succeeded: on a busy machine many are under way. */
const loginLimit = "1000/5m";

/** How fast the whole chain is. */
interface Full {
  /** Events a second from the first request until all are delivered and listed. */
  readonly chain: number;
  /** Events taken in a second meanwhile. */
  readonly accepted: number;
}

interface Round {
  readonly full: Full;
  readonly ratePerSecond: number;
  readonly delay: Delay;
  /** How much of the time the main thread waited for a core: others use the machine, too. */
  readonly coreless: number;
  readonly load: Measured;
  readonly logins: Logins;
}

interface Logins {
  readonly asked: number;
  readonly answered: number;
  /** The error messages of the failed ones. */
  readonly failures: readonly string[];
  readonly ms: Percentiles;
}

/** P13: how long the main thread keeps others waiting while it is busy. */
export async function loop(): Promise<Report> {
  const stage = await Stage.open(destinations);
  try {
    const environment = { RELAY_PASSWORD_COST: passwordCost, RELAY_LIMIT_LOGIN_FAILURES: loginLimit };
    const subject = await stage.subject(stage.urls("/fast"), { environment });
    await stage.warmUp(subject);
    const taken: Round[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      // Measured right before, since the speed of a shared machine changes.
      const one = await atShareOf(await fullSpeed(stage, subject), stage, subject);
      // The first round warms everything up and does not count.
      if (round > 0) taken.push(one);
    }
    const ledger: LedgerLine[] = [
      ...await stage.ledger("relay", subject),
      {
        what: "logins asked = answered",
        left: taken.reduce((sum, { logins }) => sum + logins.asked, 0),
        right: taken.reduce((sum, { logins }) => sum + logins.answered, 0),
      },
    ];
    return { name: "loop", figures: [figureOf(taken)], ledger, rounds: taken };
  } finally {
    await stage.close();
  }
}

async function fullSpeed(stage: Stage, subject: Subject): Promise<Full> {
  const from = performance.now();
  const load = { connections, durationMs: fullMs, maxEvents: Number.MAX_SAFE_INTEGER };
  const { accepted, rate } = await stage.closed(subject, load, await stage.delivered(subject));
  return { chain: (accepted / (performance.now() - from)) * 1000, accepted: rate };
}

async function atShareOf(full: Full, stage: Stage, subject: Subject): Promise<Round> {
  const ratePerSecond = Math.round(share * full.chain);
  const delivered = await stage.delivered(subject);
  const logins = startLogins(subject);
  // Asking for the delay resets it.
  await delayOf(subject.relay);
  const from = performance.now();
  const waitedBefore = waitedForCore(subject.pid);
  let delay: Delay | undefined;
  let coreless = 0;
  const load = await stage.open(
    subject, { connections, ratePerSecond, events: ratePerSecond * seconds },
    async (result) => {
      delay = await delayOf(subject.relay);
      coreless = (waitedForCore(subject.pid) - waitedBefore) / (performance.now() - from);
      await delivered(result);
    },
  );
  return { full, ratePerSecond, delay: delay!, coreless, load, logins: await logins.stop() };
}

/** Logs the owner in again and again, at a rate of its own; `stop` waits for those under way. */
function startLogins({ relay, account }: Subject): { stop(): Promise<Logins> } {
  const anyone = new ApiClient(relay.url);
  const underWay: Promise<void>[] = [];
  const times: number[] = [];
  const failures: string[] = [];
  const login = async () => {
    const from = performance.now();
    await anyone.post("/api/v1/auth/login", { ...account.login });
    times.push(performance.now() - from);
  };
  const failed = (error: unknown) => void failures.push(String(error));
  const timer = setInterval(() => underWay.push(login().catch(failed)), 1000 / loginsPerSecond);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(underWay);
      const ms = percentilesOf(Float64Array.from(times));
      return { asked: underWay.length, answered: times.length, failures, ms };
    },
  };
}

function figureOf(taken: readonly Round[]): Figure {
  const best = taken.toSorted((a, b) => a.delay.p99 - b.delay.p99)[0]!;
  const { full, ratePerSecond, delay, coreless, load, logins } = best;
  const [failure] = taken.flatMap((round) => round.logins.failures);
  const percent = (part: number) => `${(part * 100).toFixed(0)} %`;
  const mainThread = (load.cpu.get("MainThread") ?? 0) / (seconds * 1000);
  return {
    id: "P13", what: "event-loop delay p99 at 80 % load, logins running",
    bounds: { better: "lower", floor: 15, aim: 5, unit: "ms" }, measured: delay.p99,
    note: `best of ${taken.length} rounds of ${seconds} s; p99 of each: ` +
      `${taken.map((round) => round.delay.p99.toFixed(1)).join(", ")}; in the best: p50 ${delay.p50.toFixed(1)}, ` +
      `longest ${delay.max.toFixed(1)}, ${ratePerSecond}/s, 80 % of ${Math.round(full.chain)}/s from request ` +
      `to recorded delivery (${Math.round(full.accepted)}/s taken in meanwhile), the main thread busy ` +
      `${percent(mainThread)} of the time and without a core ${percent(coreless)}, ${loginsPerSecond} logins/s ` +
      `of password cost ${passwordCost}, ${logins.ms.p50.toFixed(0)} ms each, due to 202 p99 ` +
      `${load.answerMs.p99.toFixed(1)}${failure === undefined ? "" : `; a login failed: ${failure}`}`,
  };
}
