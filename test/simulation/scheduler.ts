import type { Timer } from "../../src/kernel/ports/clock.ts";

interface Task {
  readonly at: number;
  readonly order: number;
  run: (() => void) | undefined;
}

/**
 * The simulated time, and all tasks in it: timers and completions of I/O, one after the other. Between two tasks every
 * promise that can settle has settled, so that the scheduler alone decides the order.
 */
export class Scheduler {
  /** Milliseconds since the world began; never goes back. */
  now = 0;
  /** The number of tasks that have run. */
  steps = 0;
  readonly #heap: Task[] = [];
  #orders = 0;

  /** Runs `task` once, `delayMs` from now. */
  after(delayMs: number, task: () => void): Timer {
    const entry: Task = { at: this.now + Math.max(0, delayMs), order: (this.#orders += 1), run: task };
    this.#push(entry);
    return {
      cancel: () => {
        entry.run = undefined;
      },
    };
  }

  /** Runs all tasks up to `end` (ms), or until `isOver`. Rejects with the error of a task. */
  async run(end: number, isOver: () => boolean): Promise<void> {
    for (;;) {
      const next = this.#heap[0];
      if (isOver() || !next || next.at > end) break;
      this.#pop();
      if (!next.run) continue;
      this.now = Math.max(this.now, next.at);
      this.steps += 1;
      next.run();
      await settled();
    }
    if (!isOver()) this.now = Math.max(this.now, end);
  }

  #push(task: Task): void {
    const heap = this.#heap;
    let at = heap.push(task) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const other = heap[above] as Task;
      if (!isBefore(task, other)) break;
      heap[at] = other;
      at = above;
    }
    heap[at] = task;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Task;
    const { length } = heap;
    if (length === 0) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= length) break;
      if (below + 1 < length && isBefore(heap[below + 1] as Task, heap[below] as Task)) below += 1;
      const other = heap[below] as Task;
      if (!isBefore(other, last)) break;
      heap[at] = other;
      at = below;
    }
    heap[at] = last;
  }
}

function isBefore(a: Task, b: Task): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** Resolves when no promise can settle by itself any more: all do so before the next turn of the event loop. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
