import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { ProcessRole } from "../../src/main/config/config.ts";
import type { ApiClient } from "../support/api-client.ts";
import { closeBooks } from "../support/closed-books.ts";
import { EventStream } from "../support/event-stream.ts";
import { Ledger, printed } from "../support/ledger.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventually, openAccount, type Account } from "../support/relay.ts";
import type { RelayProcess } from "../support/relay-process.ts";
import { Producers, randomOfRun } from "../support/relay-process-load.ts";
import { sized } from "../support/size.ts";
import { Fleet, outsideEngines, type OutsideEngines } from "../support/topologies.ts";

const deliveryTimeoutMs = 3_000;
/** The lease of an attempt: a dead worker's attempts count against its destinations' limits as long. */
const leaseMs = deliveryTimeoutMs + 5_000;
/** From a kill to the delivery of all events acknowledged before: leases of role and attempts, a rebalancing. */
const takenOverMs = leaseMs + 22_000;
const limit = 3;

describe("separate roles, two processes of each", function () {
  this.timeout(sized(240_000, 3_600_000));
  let engines: OutsideEngines;
  let receiver: Receiver;
  let fleet: Fleet;
  let account: Account;
  let random: () => number;

  before(async function () {
    this.timeout(600_000);
    random = randomOfRun();
    engines = await outsideEngines(this);
    receiver = await startReceiver({ record: false });
    fleet = new Fleet(receiver, {
      ...engines.env, RELAY_DELIVERY_TIMEOUT: `${deliveryTimeoutMs}ms`, RELAY_RETRY_SCHEDULE: "100ms,300ms",
    });
    await fleet.start();
    account = await openAccount(fleet.url, { maxTrys: 10_000 });
  });
  afterEach(function () {
    if (this.currentTest?.state === "failed") for (const process of fleet.all) console.log(process.tail());
  });
  after(async () => {
    await (fleet as Fleet | undefined)?.close();
    await receiver.close();
    await (engines as OutsideEngines | undefined)?.close();
  });

  const owner = (): ApiClient => fleet.of("api")[0]?.at(account.owner) ?? account.owner;
  const active = async (role: ProcessRole) => {
    const metric = `relay_role_active{role="${role}"}`;
    const values = await Promise.all(fleet.of(role).map((process) => process.metric(metric)));
    return values.filter((value) => value === 1).length;
  };

  it("have each single role in one process", async () => {
    for (const role of ["projector", "forwarder", "sweeper"] as const) {
      await eventually(() => active(role), (count) => count === 1);
    }
  });

  it("serve health, but no API, without the role api", async () => {
    for (const role of ["projector", "forwarder", "delivery", "sweeper"] as const) {
      for (const { url } of fleet.of(role)) {
        await eventually(async () => (await fetch(`${url}/readyz`)).status, (status) => status === 200);
        expect((await fetch(`${url}/healthz`)).status).to.equal(200);
        expect((await fetch(`${url}/api/v1/events`)).status).to.equal(404);
      }
    }
  });

  /** Uses a key at each API process; after its deletion none takes a request that is sent a second later. */
  const expectStopped = async (use: (api: RelayProcess) => Promise<number>, taken: number, place: string) => {
    for (const api of fleet.of("api")) expect(await use(api)).to.equal(taken);
    await owner().delete(place);
    const deletedAt = performance.now();
    for (const api of fleet.of("api")) {
      let takenAt = deletedAt;
      const status = await eventually(async () => {
        const since = performance.now();
        const answered = await use(api);
        if (answered === taken) takenAt = since;
        return answered;
      }, (answered) => answered !== taken);
      // A process that cannot prove its freshness answers 503.
      expect(status).to.be.oneOf([401, 503]);
      expect(takenAt - deletedAt, "sent with the key that was taken last").to.be.below(1_000);
      await eventually(() => use(api), (status) => status === 401);
    }
  };

  it("refuse a deleted API key in every API process within a second", async () => {
    const { ingest } = await account.destination({ url: receiver.url("/keys") });
    for (let round = 0; round < 5; round += 1) {
      const made = await owner().post("/api/v1/api-keys", { name: "short" });
      const { id, apiKey } = made as { id: string; apiKey: string };
      const headers = { "x-api-key": apiKey, "content-type": "application/json" };
      await expectStopped(async ({ url }) =>
        (await fetch(url + ingest, { method: "POST", headers, body: "{}" })).status, 202, `/api/v1/api-keys/${id}`);
    }
  });

  for (const deleted of ["service key", "service account"] as const) {
    it(`refuse a deleted ${deleted} in every API process within a second, and end its streams`, async () => {
      for (let round = 0; round < 5; round += 1) {
        const made = await owner().post("/api/v1/service-accounts", { name: "short", role: "Viewer" });
        const place = `/api/v1/service-accounts/${String(made["id"])}`;
        const { id, key } = await owner().post(`${place}/keys`, { name: "short" });
        const headers = { authorization: `Bearer ${String(key)}` };
        const streams = await Promise.all(fleet.of("api").map(({ url }) =>
          EventStream.open(`${url}/api/v1/stream`, headers)));
        await expectStopped(async ({ url }) => (await fetch(`${url}/api/v1/destinations`, { headers })).status, 200,
          deleted === "service key" ? `${place}/keys/${String(id)}` : place);
        for (const stream of streams) {
          await stream.until((frames) => frames.some(({ event }) => event === "end"), 1_000);
          expect(stream.frames.at(-1)?.data).to.deep.equal({ reason: "session over" });
        }
      }
    });
  }

  it("carry on when a process of any role is killed under load, and keep the limits", async () => {
    const ledger = new Ledger();
    account = await openAccount(fleet.url, { maxTrys: 10_000 });
    let [open, most] = [0, 0];
    const targets = [];
    for (const [path, delayMs] of [["/narrow", 100], ["/wide", 0], ["/wider", 5]] as const) {
      const answer = ledger.receiving(() => ({ delayMs }));
      receiver.on(path, async (request) => {
        if (path !== "/narrow") return answer(request);
        most = Math.max(most, (open += 1));
        await pause(delayMs);
        open -= 1;
        return answer(request);
      });
      const { ingest } = await account.destination({ url: receiver.url(path), serverRateLimit: limit });
      targets.push({ account, ingest });
    }
    const producers = new Producers(fleet, ledger, targets, { producers: 2, pauseMs: 60, random }).start();
    const victims: readonly ProcessRole[] = ["delivery", "forwarder", "projector", "sweeper", "api"];
    for (let round = 0; round < sized(1, 10); round += 1) {
      for (const role of victims) {
        await pause(1_000);
        // Of a single role, the process that holds it is killed.
        const killed = (await withRole(fleet.of(role), role)) ?? fleet.of(role)[round % 2];
        await killed?.kill9();
        const before = ledger.eventIdsOf(account);
        const since = performance.now();
        const left = async () => {
          const found = await Promise.all(before.slice(-50).map((id) => owner().get(`/api/v1/events/${id}`)));
          return found.filter(({ status }) => status !== "Succeeded").map(({ id, status }) => [id, status]);
        };
        const asked = () => left().catch((error: unknown) => [[String(error)]]);
        const restarted = role === "api" ? killed?.start() : undefined;
        await restarted;
        await eventually(asked, ({ length }) => length === 0, takenOverMs);
        printed(`${role} killed`, { deliveredAgainAfterMs: Math.round(performance.now() - since) });
        if (role !== "api") await killed?.start();
      }
    }
    await producers.stop();
    const figures = await closeBooks(ledger, account, {
      owner: owner(), lives: fleet.all.flatMap(({ lives }) => lives), attemptMs: leaseMs,
    });
    printed("roles apart", { ...figures, most });
    expect(most, "as many at once as the limit lets be").to.equal(limit);
  });
});

async function withRole(processes: readonly RelayProcess[], role: ProcessRole): Promise<RelayProcess | undefined> {
  for (const process of processes) {
    if ((await process.metric(`relay_role_active{role="${role}"}`)) === 1) return process;
  }
  return undefined;
}
