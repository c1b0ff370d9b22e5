import type { Receiver } from "../../test/support/receiver.ts";
import { eventually, type Account } from "../../test/support/relay.ts";
import { RelayProcess } from "../../test/support/relay-process.ts";
import { inspected } from "../../test/support/relay-process-heap.ts";
import { cpuOf, cpuSince, total } from "./cpu.ts";

/** Events of one {@link append}. */
export const appended = 2_000;
/** The timeout of steps whose duration is not known beforehand, ms. */
export const patienceMs = 600_000;

/** Runs a measurement on a relay of its own whose heap can be looked at. */
export async function withRelay<T>(receiver: Receiver, measure: (relay: RelayProcess) => Promise<T>): Promise<T> {
  const relay = new RelayProcess(receiver, { nodeFlags: inspected, env: { RELAY_LOG_LEVEL: "info" } });
  try {
    await relay.start();
    return await measure(relay);
  } finally {
    await relay.close();
  }
}

/** Starts the relay; ms until it is ready. */
export async function started(relay: RelayProcess): Promise<number> {
  await relay.start();
  const { startedAt, readyAt } = relay.lives.at(-1) ?? {};
  return Number(readyAt) - Number(startedAt);
}

/** The best of three: others use the machine, too. */
export async function quickestStart(relay: RelayProcess): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    await relay.sigterm();
    times.push(await started(relay));
  }
  return Math.min(...times);
}

/** A page of the events that a query asks for. */
export function page(relay: RelayProcess, account: Account, query: string) {
  return relay.at(account.owner).get(`/api/v1/events?${query}`);
}

/** Waits for the read models; how many events they list. */
export async function listed(relay: RelayProcess, account: Account): Promise<number> {
  const ask = () => page(relay, account, "Qt=1").catch(() => null);
  return Number((await eventually(ask, (answer) => answer !== null, patienceMs))?.["total"]);
}

/** CPU of the whole process for each event that is taken in, delivered and recorded, µs. */
export async function append(
  relay: RelayProcess,
  account: Account,
  ingest: string,
  receiver: Receiver,
): Promise<number> {
  const delivered = receiver.received + appended;
  const producer = relay.at(account.producer);
  const before = cpuOf(relay.pid);
  let posted = 0;
  const post = async () => {
    while (posted < appended) {
      posted += 1;
      await producer.post(ingest, { text: "x".repeat(1_000) }, { "x-idempotency-key": crypto.randomUUID() });
    }
  };
  await Promise.all(Array.from({ length: 50 }, post));
  await receiver.waitFor(({ received }) => received >= delivered, patienceMs);
  await listed(relay, account);
  return (total(cpuSince(relay.pid, before)) / appended) * 1000;
}
