import { SlotTable } from "../../../../src/kernel/threads/slot-table.ts";

/** Entry of a process that replaces two waiting items all the time, after a collection of its heap. */
const waiting = new SlotTable<readonly object[]>();
const numbers = [waiting.add(thing()), waiting.add(thing())];
globalThis.gc!();
for (let turn = 0; turn < 50_000; turn += 1) {
  waiting.take(numbers.shift()!);
  numbers.push(waiting.add(thing()));
}

function thing(): object[] {
  return Array.from({ length: 40 }, (_, at) => ({ at }));
}
