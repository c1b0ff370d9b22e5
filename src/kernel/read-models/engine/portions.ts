import type { Position } from "../../ports/event-store.ts";
import type { Change, PositionedChanges } from "../../ports/read-models.ts";

/** Of a portion: documents and counters, and characters of the new values. A larger entry is a portion by itself. */
const most = { keys: 1_000, characters: 4 * 1024 * 1024 };

/** Entries that follow each other, and the checkpoint when they are applied. */
interface Portion {
  readonly entries: readonly PositionedChanges[];
  readonly upTo: Position;
}

/** Cuts a batch that changes much between entries of the log; the last portion may be empty. */
export function* portionsOf(batch: readonly PositionedChanges[], checkpoint: Position): Generator<Portion, void> {
  let entries: PositionedChanges[] = [];
  let keys = new Set<string>();
  let characters = 0;
  for (const entry of batch) {
    const own = entry.changes.flatMap(keysOf);
    const length = entry.changes.reduce((sum, change) => sum + lengthOf(change), 0);
    const more = new Set(own.filter((key) => !keys.has(key)));
    const last = entries.at(-1);
    if (last && (keys.size + more.size > most.keys || characters + length > most.characters)) {
      yield { entries, upTo: last.position };
      [entries, keys, characters] = [[], new Set(), 0];
    }
    entries.push(entry);
    for (const key of own) keys.add(key);
    characters += length;
  }
  yield { entries, upTo: checkpoint };
}

function keysOf(change: Change): readonly string[] {
  switch (change.op) {
    case "add":
      return [`${change.scope}\n${change.bucket}`];
    case "tally":
      return change.rows.map(({ key }) => `${change.collection}\n${key}`);
    default:
      return [`${change.collection}\n${change.key}`];
  }
}

function lengthOf(change: Change): number {
  if (change.op === "add" || change.op === "remove" || change.op === "tally") return 0;
  let length = 0;
  for (const value of Object.values(change.op === "put" ? change.document : change.fields)) {
    if (typeof value === "string") length += value.length;
    else if (typeof value === "object" && value !== null) length += JSON.stringify(value).length;
  }
  return length;
}
