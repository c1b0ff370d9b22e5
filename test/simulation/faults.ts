import { calm } from "./engine.ts";
import type { Fleet } from "./fleet.ts";
import type { LogOutages } from "./log-outages.ts";
import type { Engines } from "./node.ts";
import type { WallTime } from "./process.ts";
import { calmQueue } from "./queue.ts";
import type { Random } from "./random.ts";
import { tempers } from "./receivers.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Trace } from "./trace.ts";
import type { Weather } from "./weather.ts";

interface FaultParts {
  readonly random: Random;
  readonly weather: Weather;
  readonly engines: Engines;
  readonly fleet: Fleet;
  readonly scheduler: Scheduler;
  readonly wall: WallTime;
  readonly trace: Trace;
  readonly hosts: () => readonly string[];
  readonly logOutages: LogOutages;
}

/** Causes the faults of the weather, and ends them. */
export class Faults {
  /** The furthest that clocks were ahead of true time, ms: times planned by them may be that late. */
  furthestAheadMs = 0;
  /** The furthest that clocks were behind, ms: a process waits that much longer for a time that another one planned. */
  furthestBehindMs = 0;
  readonly #parts: FaultParts;
  #ended = false;

  constructor(parts: FaultParts) {
    this.#parts = parts;
  }

  begin(): void {
    const { weather, engines, fleet } = this.#parts;
    const { log, readModels, state, queue, receivers } = engines;
    log.engine.condition = weather.log;
    log.lagMs = weather.lagMs;
    readModels.engine.condition = weather.readModels;
    state.engine.condition = weather.state;
    queue.engine.condition = weather.queueEngine;
    queue.condition = weather.queue;
    receivers.busyMs = weather.busyMs;
    this.furthestAheadMs = weather.skewMs;
    this.furthestBehindMs = weather.skewMs;
    this.#nowAndThen(weather.crashEveryMs, () => this.#crash());
    this.#nowAndThen(weather.stopEveryMs, () => fleet.stop());
    this.#nowAndThen(weather.stallEveryMs, () => fleet.stall(this.#parts.random.between(0, weather.stallMs)));
    this.#nowAndThen(weather.outageEveryMs, () => this.#outage());
    this.#nowAndThen(weather.jumpEveryMs, () => this.#jump());
    this.#nowAndThen(weather.rebalanceEveryMs, () => queue.rebalance());
    this.#nowAndThen(weather.lossEveryMs, () => {
      readModels.lost = true;
      fleet.crash();
    });
    this.#nowAndThen(weather.moodEveryMs, () => this.#mood());
    for (const host of this.#parts.hosts()) this.#mood(host);
  }

  end(): void {
    const { engines, trace, wall, logOutages } = this.#parts;
    const { log, readModels, state, queue, receivers } = engines;
    this.#ended = true;
    for (const { engine } of [log, readModels, state, queue]) {
      engine.condition = calm;
      engine.frozenUntil = 0;
      engine.down = false;
    }
    logOutages.end();
    log.lagMs = 3;
    readModels.lost = false;
    queue.condition = calmQueue;
    receivers.heal();
    wall.aheadMs = 0;
    wall.apart = false;
    trace.add("all is well from now on");
  }

  #nowAndThen(everyMs: number, fault: () => void): void {
    if (everyMs === Infinity) return;
    this.#parts.scheduler.after(this.#parts.random.between(0, 2 * everyMs), () => {
      if (this.#ended) return;
      fault();
      this.#nowAndThen(everyMs, fault);
    });
  }

  #crash(): void {
    const { random, weather, fleet } = this.#parts;
    if (random.chance(weather.crashAtQuestion)) fleet.crashAtQuestion(random.below(60), random.chance(0.5));
    else fleet.crash();
  }

  #outage(): void {
    const { random, engines, scheduler, trace, weather } = this.#parts;
    const { engine } = random.pick([engines.log, engines.readModels, engines.state, engines.queue]);
    const ms = random.between(0, weather.outageMs);
    if (engine === engines.log.engine) this.#parts.logOutages.begin(ms);
    if (random.chance(0.5)) {
      trace.add(`${engine.name} is frozen for ${ms.toFixed(0)} ms`);
      engine.frozenUntil = Math.max(engine.frozenUntil, scheduler.now + ms);
      return;
    }
    trace.add(`${engine.name} is away for ${ms.toFixed(0)} ms`);
    engine.down = true;
    scheduler.after(ms, () => {
      engine.down = false;
    });
  }

  #jump(): void {
    const { random, wall, trace, weather } = this.#parts;
    wall.aheadMs = Math.round(random.between(-weather.jumpMs, weather.jumpMs));
    this.furthestAheadMs = Math.max(this.furthestAheadMs, wall.aheadMs + weather.skewMs);
    this.furthestBehindMs = Math.max(this.furthestBehindMs, weather.skewMs - wall.aheadMs);
    trace.add(`clocks are ${wall.aheadMs} ms ahead`);
  }

  #mood(host?: string): void {
    const { random, engines, trace, weather, hosts } = this.#parts;
    const temper = random.chance(weather.moody) ? random.pick(tempers) : "fast";
    const which = host ?? random.pick(hosts());
    trace.add(`${which} is ${temper}`);
    engines.receivers.change(which, temper);
  }
}
