import { expect } from "chai";
import type { ApiClient } from "./api-client.ts";
import { readHistories } from "./api-histories.ts";
import type { Figures, Ledger } from "./ledger.ts";
import { listedTotals, totalsOf, unfinishedOf } from "./ledger-snapshot.ts";
import { eventually, type Account } from "./relay.ts";
import type { Life } from "./relay-process.ts";

const patienceMs = 60_000;

/**
 * Waits until everything of an account is delivered, and fails unless lists and log tell the same and the ledger finds
 * no fault with them. `owner` asks a process that is there; an attempt takes `attemptMs` at most.
 */
export async function closeBooks(
  ledger: Ledger,
  account: Account,
  { owner, lives, attemptMs }: {
    readonly owner: ApiClient;
    readonly lives: readonly Life[];
    readonly attemptMs: number;
  },
): Promise<Figures> {
  const left = () => unfinishedOf(owner, ["Succeeded"]).catch(() => -1);
  await eventually(left, (count) => count === 0, patienceMs);
  const histories = await readHistories(owner, ledger.eventIdsOf(account));
  expect(await listedTotals(owner), "totals by status").to.deep.equal(totalsOf(histories));
  const { faults, figures } = ledger.balance(histories, lives, attemptMs);
  for (const [kind, found] of Object.entries(faults)) expect(found, kind).to.deep.equal([]);
  return figures;
}
