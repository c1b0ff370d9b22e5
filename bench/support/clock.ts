const origin = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** The machine's monotonic clock, ms: the same in all of its processes, so that moments in two of them compare. */
export function machineNow(): number {
  return origin + performance.now();
}

const parking = new Int32Array(new SharedArrayBuffer(4));
const longestParkMs = 0.25;

/**
 * Calls `emit(n, due)` for n = 0 … total - 1 at its due moment, `ratePerSecond` apart, from `start` (machine ms) on;
 * resolves when all are emitted. An answer of false means "not now": the same n is offered again, its due moment stays.
 * Sleeps in short bites, since timers only know whole milliseconds and a busy loop would take a core.
 */
export function emitOpenLoop(
  total: number,
  ratePerSecond: number,
  start: number,
  emit: (n: number, due: number) => boolean,
): Promise<void> {
  const gap = 1000 / ratePerSecond;
  return new Promise((resolve) => {
    let next = 0;
    const tick = () => {
      let ready = true;
      while (ready && next < total && start + next * gap <= machineNow()) {
        ready = emit(next, start + next * gap);
        if (ready) next += 1;
      }
      if (next === total) {
        resolve();
        return;
      }
      const wait = Math.min(start + next * gap - machineNow(), longestParkMs);
      if (wait > 0.01) Atomics.wait(parking, 0, 0, wait);
      setImmediate(tick);
    };
    tick();
  });
}
