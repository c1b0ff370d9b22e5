import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { text, type Json } from "./api-client.ts";
import { readHistories, type HistoryFact } from "./api-histories.ts";
import { Ledger, printed } from "./ledger.ts";
import { listedTotals, totalsOf, unfinishedOf } from "./ledger-snapshot.ts";
import { thisRelease, type Raised } from "./next-release.ts";
import type { Receiver, Script } from "./receiver.ts";
import { eventReaches, eventually, openAccount, type Account } from "./relay.ts";
import { Producers, type Target } from "./relay-process-load.ts";
import type { ReplacedRelay } from "./replaced-relay.ts";
import { sized } from "./size.ts";

/** The setting of an upgrade test. */
export interface Upgrade {
  readonly relay: ReplacedRelay;
  readonly receiver: Receiver;
  /** Where the next release is, and which facts it raises. */
  readonly next: string;
  readonly raised: Raised;
  /** Events that must be accepted in each part before the next one begins. */
  readonly perPart: number;
  /** Between an answer and the next request of a producer, ms. */
  readonly pauseMs: number;
  readonly random: () => number;
}

/** The results of an upgrade test. */
interface Upgraded {
  readonly accounts: readonly [Account, ...Account[]];
  /** The longest that producers had to repeat a request until its event was accepted. */
  readonly slowestMs: number;
}

/** A destination as a producer and its owner know it. */
type Destination = Target & { readonly id: string };

const patienceMs = 90_000;
/** Of an attempt, from its claim to its record. */
const attemptMs = 8_000;

/**
 * Replaces a relay under load by the next release, goes back, and forward again. Producers repeat unanswered requests;
 * circuits open, events are retried, given up, replayed and cancelled meanwhile. Fails where an acknowledged event is
 * lost, an attempt is sent twice, events that only the next release can read are touched by this one or do not come
 * back with the next one, or lists and totals differ from the log.
 */
export async function upgradeAndReturn(upgrade: Upgrade): Promise<Upgraded> {
  const { relay, next, raised } = upgrade;
  const traffic = await startTraffic(upgrade);
  await traffic.part();
  await relay.forward(next);
  await traffic.part();
  const waiting = await traffic.postToStuck();
  await traffic.people.both();

  const quickly = sized(1, 0) === 1;
  await relay.back(thisRelease, quickly);
  const before = traffic.sentToStuck.length;
  const late = traffic.single.post(traffic.stuck);
  await traffic.part();
  const sent = () => traffic.sentToStuck.slice(before).filter((id) => waiting.includes(id));
  if (raised === "nothing") await eventually(async () => sent(), ({ length }) => length > 0, patienceMs);
  else expect(sent(), "requests of what only the next release can read").to.be.empty;
  if (raised !== "destination") await late;
  const asked = await relay.at(traffic.patient.owner).get(`/api/v1/events/${waiting[0] ?? ""}`)
    .catch((error: unknown) => error);
  expect(asked).to.include(raised === "acceptance" ? { status: 503 } : { id: waiting[0] });

  await relay.forward(next, quickly);
  await traffic.part();
  await traffic.stop();
  await late;
  await expectBalance(upgrade, traffic);
  const { patient, guarded, undecided, producers: { slowestMs } } = traffic;
  return { accounts: [patient, guarded, undecided], slowestMs };
}

type Traffic = Awaited<ReturnType<typeof startTraffic>>;

/** Producers and users at work, and receivers that accept events, fail, or refuse them for good. */
async function startTraffic({ relay, receiver, perPart, pauseMs, random }: Upgrade) {
  const ledger = new Ledger();
  const patient = await openAccount(relay.url, { maxTrys: 10_000 });
  const guarded = await openAccount(relay.url, { maxTrys: 3, circuitBreakerTimer: 1 });
  /** Every event of this account is cancelled. */
  const undecided = await openAccount(relay.url, { maxTrys: 10_000 });
  let healed = false;
  const destination = async (account: Account, path: string, script: Script): Promise<Destination> => {
    receiver.on(path, script);
    const { id, ingest } = await account.destination({ url: receiver.url(path), serverRateLimit: 20 });
    return { id, account, ingest };
  };
  const booked = (account: Account, path: string, script: Parameters<Ledger["receiving"]>[0]) =>
    destination(account, path, ledger.receiving(script));
  const targets = [
    await booked(patient, "/quick", () => ({})),
    await booked(patient, "/slow", () => ({ delayMs: random() * 400 })),
    await booked(patient, "/failing", ({ attempt }) => ({ status: attempt < 3 ? 500 : 200 })),
    // Given up at once, and replayed by a person.
    await booked(patient, "/gone", ({ attempt }) => ({ status: attempt < 2 ? 410 : 200 })),
    await booked(guarded, "/moody", () => ({ status: healed || random() < 0.5 ? 200 : 503 })),
  ];
  const sentToStuck: string[] = [];
  const stuck = await booked(patient, "/stuck", ({ eventId }) => {
    sentToStuck.push(eventId);
    return { status: healed ? 200 : 500 };
  });
  const dead = await destination(undecided, "/dead", () => ({ status: 500 }));
  const producers = new Producers(relay, ledger, targets, { producers: 3, pauseMs, random }).start();
  const single = new Producers(relay, ledger, [], { producers: 0, pauseMs: 0, random });
  const people = new People(relay, [patient, guarded], dead, 10 * pauseMs);
  return {
    ledger, patient, guarded, undecided, producers, single, people, stuck, sentToStuck,
    /** Resolves when another `perPart` events are accepted. */
    async part() {
      const { count } = ledger;
      await eventually(async () => ledger.count, (now) => now >= count + perPart, patienceMs);
    },
    /** Changes the destination that fails, and posts to it; resolves to the events once they wait for a retry. */
    async postToStuck(): Promise<readonly (string | undefined)[]> {
      const owner = relay.at(patient.owner);
      await served(() => owner.patch(`/api/v1/destinations/${stuck.id}`, { serverRateLimit: 10 }));
      const ids = await Promise.all([single.post(stuck), single.post(stuck), single.post(stuck)]);
      for (const id of ids) await eventReaches(owner, id ?? "", "WaitingRetry", patienceMs);
      return ids;
    },
    /** Has all receivers accept everything; resolves when producers and users are done. */
    async stop() {
      healed = true;
      await producers.stop();
      await people.stop();
    },
  };
}

async function expectBalance({ relay, raised }: Upgrade, traffic: Traffic): Promise<void> {
  const { ledger, patient, guarded, undecided, people, producers } = traffic;
  const accounts = [patient, guarded, undecided];
  await settled(relay, accounts);
  const histories = new Map<string, readonly HistoryFact[]>();
  for (const account of accounts) {
    const owner = relay.at(account.owner);
    const own = await served(() => readHistories(owner, ledger.eventIdsOf(account)));
    expect(await served(() => listedTotals(owner)), "totals by status").to.deep.equal(totalsOf(own));
    if (account === undecided) expect(totalsOf(own)).to.deep.equal({ Cancelled: people.cancelled });
    else for (const [id, facts] of own) histories.set(id, facts);
  }
  const { faults, figures } = ledger.balance(histories, relay.lives, attemptMs);
  const types = [...histories.values()].flat().map(({ type }) => type);
  const times = (type: string) => types.filter((other) => other === type).length;
  printed(`upgraded, with ${raised} raised`, {
    ...figures, slowestMs: Math.round(producers.slowestMs), failed: times("DeliveryFailed"),
    replayed: times("EventReplayed"), annotated: times("EventAnnotated"), cancelled: people.cancelled,
  });
  for (const [fault, found] of Object.entries(faults)) expect(found, fault).to.deep.equal([]);
  expect(figures).to.include({ unknownOutcomes: 0, extraDeliveries: 0 });
  expect(times("EventAnnotated"), "what only the next release writes").to.be.greaterThan(0);
}

/** Asks again while the answer is 503, as it may be while processes are replaced. */
function served<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  return eventually(ask, () => true, patienceMs);
}

/** Waits until every event of the accounts has Succeeded or is Cancelled; replays given-up ones. */
async function settled(relay: ReplacedRelay, accounts: readonly Account[]): Promise<void> {
  const open = async () => {
    const left: string[] = [];
    for (const account of accounts) {
      await replayAll(relay, account);
      const unfinished = await unfinishedOf(relay.at(account.owner), ["Succeeded", "Cancelled"]);
      if (unfinished > 0) left.push(`${unfinished} of ${account.email}`);
    }
    return left;
  };
  await eventually(() => open().catch((error: unknown) => [String(error)]), ({ length }) => length === 0, patienceMs);
}

/** Replays events that were given up, as far as the relay can; resolves to their number. */
async function replayAll(relay: ReplacedRelay, account: Account): Promise<number> {
  const owner = relay.at(account.owner);
  const { items } = (await owner.get("/api/v1/events?Status=CriticalFailure&Qt=100")) as { items: Json[] };
  let replayed = 0;
  for (const { id } of items) {
    await owner.post(`/api/v1/events/${String(id)}/replay`, {}).then(() => (replayed += 1), () => undefined);
  }
  return replayed;
}

/** Users who replay events that were given up, and cancel waiting events, each until it is done. */
class People {
  readonly #relay: ReplacedRelay;
  readonly #pauseMs: number;
  readonly #running: Promise<void>[];
  #stopped = false;
  #replayed = 0;
  #cancelled = 0;

  /** `dead`: a destination at which every event fails until it is cancelled; `pauseMs`: between a user's actions. */
  constructor(relay: ReplacedRelay, accounts: readonly Account[], dead: Target, pauseMs: number) {
    this.#relay = relay;
    this.#pauseMs = pauseMs;
    this.#running = [...accounts.map((account) => this.#replay(account)), this.#cancel(dead)];
  }

  get cancelled(): number {
    return this.#cancelled;
  }

  /** Resolves when one event more is replayed, and one more cancelled. */
  async both(): Promise<void> {
    const [replayed, cancelled] = [this.#replayed, this.#cancelled];
    await eventually(async () => this.#replayed > replayed && this.#cancelled > cancelled, (done) => done, patienceMs);
  }

  /** Resolves when the actions under way are done, for which a process must run that can do them. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
  }

  async #replay(account: Account): Promise<void> {
    while (!this.#goneBy()) {
      this.#replayed += await replayAll(this.#relay, account).catch(() => 0);
      await pause(this.#pauseMs);
    }
  }

  async #cancel({ account, ingest }: Target): Promise<void> {
    const at = (client: Account["owner"]) => this.#relay.at(client);
    for (let n = 0; !this.#goneBy(); n += 1) {
      const key = `undecided-${n}`;
      const post = () => at(account.producer).post(ingest, { n }, { "x-idempotency-key": key });
      const id = text(await this.#done(post, (answer) => answer["eventId"] !== undefined), "eventId");
      const cancel = async () => {
        await at(account.owner).post(`/api/v1/events/${id}/cancel`, {}).catch(() => undefined);
        return at(account.owner).get(`/api/v1/events/${id}`);
      };
      const { status } = await this.#done(cancel, (event) => event["status"] === "Cancelled");
      if (status === "Cancelled") this.#cancelled += 1;
      await pause(this.#pauseMs);
    }
  }

  /** Asks until the answer is as wanted: meanwhile the relay may be unavailable, or unable to read the event. */
  async #done(ask: () => Promise<Json>, wanted: (answer: Json) => boolean): Promise<Json> {
    for (;;) {
      const answer = await ask().catch(() => ({}));
      if (wanted(answer) || this.#relay.closed) return answer;
      await pause(this.#pauseMs);
    }
  }

  #goneBy(): boolean {
    return this.#stopped || this.#relay.closed;
  }
}
