import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { People } from "../../../../../src/features/people/persons/people.ts";
import { failedLoginMs, Login } from "../../../../../src/features/people/sessions/login.ts";
import { Sessions } from "../../../../../src/features/people/sessions/sessions.ts";
import { serveAll } from "../../../../../src/features/services.ts";
import { Reservations } from "../../../../../src/features/tenants/reservations/reservations.ts";
import { Refusal } from "../../../../../src/kernel/domain/refusal.ts";
import { Aggregates } from "../../../../../src/kernel/log/aggregates.ts";
import type { EventStore } from "../../../../../src/kernel/ports/event-store.ts";
import type { Passwords } from "../../../../../src/kernel/ports/passwords.ts";
import { PlatformKeys } from "../../../../../src/kernel/sealing/platform-keys.ts";
import { createTenant, createUser, freshEmail, openAccount, password } from "../../../../support/accounts.ts";
import { startApi, type TestApi } from "../../../../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../../../../support/api-engines.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";
import { quiet, uncounted } from "../../../../support/telemetry.ts";

describe("logins", () => {
  let engines: InMemoryEngines;
  let api: TestApi;

  beforeEach(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
  });
  afterEach(async () => {
    await api.close();
    await engines.close();
  });

  it("queue for password checks by address, whether the email exists or not", async () => {
    const { owner } = await createTenant(api.url);
    const { passwords } = api.world;
    const matches = passwords.matches.bind(passwords);
    const owners: string[] = [];
    passwords.matches = (text, hash, of) => {
      owners.push(of);
      return matches(text, hash, of);
    };
    for (const [email, address] of [
      [owner.email, "192.0.2.1"], [freshEmail(), "192.0.2.1"],
      [owner.email, "2001:db8::1"], [freshEmail(), "2001:db8::2"],
    ] as const) {
      await api.services.login.login(email, password, address).catch(() => undefined);
    }
    const [known, unknown, knownAtNetwork, unknownAtNetwork] = owners;
    expect([known, knownAtNetwork]).to.deep.equal([unknown, unknownAtNetwork]);
    expect(knownAtNetwork).to.not.equal(known);
  });

  it("are counted by result; failures are logged by address without the email: the first, then a number", async () => {
    const { owner } = await createTenant(api.url);
    const clock = new ManualClock();
    const results: string[] = [];
    const lines: object[] = [];
    const keys = new PlatformKeys(api.world);
    const login = new Login({
      ...api.world,
      clock, keys,
      reservations: new Reservations(api.world),
      people: new People(api.world, { max: 10 }),
      sessions: new Sessions({ ...api.world, keys }, { ttlMs: 60_000 }),
      logger: { ...quiet, warn: (fields: object, message: string) => lines.push({ ...fields, message }) },
      metrics: { ...uncounted, login: (result: string) => results.push(result) },
    }, { limit: { max: 2, windowMs: 60_000 }, failedMs: 0 });
    const enter = (email: string, secret: string, address: string) =>
      login.login(email, secret, address).then(() => "in", (error: unknown) => (error as Refusal).kind);

    expect(await enter(owner.email, password, "192.0.2.1")).to.equal("in");
    for (let n = 0; n < 2; n += 1) {
      expect(await enter(freshEmail(), "wrong password", "192.0.2.1")).to.equal("unauthenticated");
    }
    for (let n = 0; n < 2; n += 1) expect(await enter(owner.email, password, "192.0.2.1")).to.equal("too-many");
    expect(await enter(owner.email, "wrong password", "192.0.2.2")).to.equal("unauthenticated");
    expect(results).to.deep.equal(["succeeded", "refused", "refused", "throttled", "throttled", "refused"]);
    clock.advance(10_000);
    expect(lines).to.deep.equal([
      { address: "192.0.2.1", result: "refused", message: "a login failed" },
      { address: "192.0.2.2", result: "refused", message: "a login failed" },
      { address: "192.0.2.1", logins: 3, message: "more logins failed" },
    ]);
    expect(await enter(owner.email, password, "192.0.2.1")).to.equal("too-many");
    expect(lines).to.have.length(3);
  });

  it("are logged by network, and together beyond a bounded number of networks", async () => {
    const clock = new ManualClock();
    const lines: object[] = [];
    const state = { ...engines.state, admit: async () => null };
    const keys = { emailHash: async () => "hash" };
    const login = new Login({
      state, keys, clock, metrics: uncounted,
      logger: { ...quiet, warn: (fields: object, message: string) => lines.push({ ...fields, message }) },
    } as unknown as ConstructorParameters<typeof Login>[0], { limit: { max: 1, windowMs: 1 }, failedMs: 0 });
    const from = (address: string) => login.login("a@example.com", "x", address).catch(() => undefined);
    for (let n = 0; n < 103; n += 1) await from(`2001:db8:0:${n}::1`);
    await from("2001:db8:0:7::2");
    clock.advance(10_000);
    expect(lines.slice(100)).to.deep.equal([
      { address: "2001:db8:0:100::1", result: "throttled", message: "a login failed" },
      { address: "2001:db8:0:7::/64", logins: 1, message: "more logins failed" },
      { address: "many", logins: 2, message: "more logins failed" },
    ]);
  });

  describe("that fail take the same time", () => {
    const cost = 12;
    const failedMs = failedLoginMs(cost);

    /** Logins of a process that has just started; reading tenants and checking passwords takes time on its clock. */
    const started = ({ readMs, checkMs = 300 }: { readonly readMs: number; readonly checkMs?: number }) => {
      const clock = new ManualClock();
      const { world } = api;
      const { store: own, passwords: hashing } = world;
      const store = {
        readStream: async (stream: string, options?: Parameters<EventStore["readStream"]>[1]) => {
          const entries = await own.readStream(stream, options);
          if (entries.length > 0) clock.advance(stream.startsWith("tenant-") ? readMs : 1);
          return entries;
        },
        append: (...given: Parameters<EventStore["append"]>) => own.append(...given),
      } as unknown as EventStore;
      const passwords: Passwords = {
        nobody: hashing.nobody,
        hash: (text, owner) => hashing.hash(text, owner),
        matches: async (text, hash, owner) => {
          const same = await hashing.matches(text, hash, owner);
          clock.advance(checkMs);
          return same;
        },
      };
      const aggregates = new Aggregates(store, { clock, ids: world.ids }, { max: 100 });
      serveAll(aggregates);
      const parts = { ...world, store, aggregates, passwords, clock };
      const keys = new PlatformKeys(world);
      const login = new Login({
        ...parts, keys,
        reservations: new Reservations(parts),
        people: new People(world, { max: 10 }),
        sessions: new Sessions({ ...world, keys }, { ttlMs: 60_000 }),
        logger: quiet, metrics: uncounted,
      }, { limit: null, failedMs });
      /** The outcome of a login, and its duration. */
      const enter = async (email: string, secret: string) => {
        const startedAt = clock.monotonic();
        let outcome: string | undefined;
        const end = (how: string) => void (outcome = how);
        login.login(email, secret, "192.0.2.1").then(() => end("in"), (error: unknown) =>
          end(error instanceof Refusal ? error.kind : String(error)));
        while (outcome === undefined) {
          await turn();
          // Other timers tell the operator how many logins failed, much later.
          const [next = 0] = clock.pending;
          if (next <= failedMs) clock.advance(next);
        }
        return [outcome, clock.monotonic() - startedAt] as const;
      };
      return { enter };
    };
    const failures = async () => {
      const { owner, developer } = await openAccount(api.url);
      const inactive = await createUser(owner.client, "developer");
      await owner.client.patch(`/api/v1/users/${inactive.id}`, { status: 1 });
      return {
        "an unknown email": [freshEmail(), password], "a wrong password": [developer.email, "wrong password"],
        "an inactive user": [inactive.email, password], owner: [owner.email, password],
      } as const;
    };

    it("whether the tenant has to be read first or is in memory", async () => {
      const { owner, ...refused } = await failures();
      for (const [email, secret] of Object.values(refused)) {
        const { enter } = started({ readMs: 90 });
        for (let time = 0; time < 3; time += 1) {
          expect(await enter(email, secret)).to.deep.equal(["unauthenticated", failedMs]);
        }
      }
      const { enter } = started({ readMs: 90 });
      const [outcome, ms] = await enter(...owner);
      expect(outcome, "a good one").to.equal("in");
      expect(ms, "a good one").to.be.within(390, failedMs - 1);
    });

    it("also if no password could be checked", async () => {
      const { owner, ...refused } = await failures();
      const { passwords } = api.world;
      passwords.matches = () => Promise.reject(new Refusal("unavailable", "too many passwords wait"));
      for (const [email, secret] of [owner, ...Object.values(refused)]) {
        expect(await started({ readMs: 90 }).enter(email, secret)).to.deep.equal(["unavailable", failedMs]);
      }
    });

    it("and no longer, if they take more by themselves", async () => {
      const { enter } = started({ readMs: 0, checkMs: failedMs + 7 });
      expect(await enter(freshEmail(), password)).to.deep.equal(["unauthenticated", failedMs + 7]);
    });

    it("which is half a second at the usual cost, and grows with it as a check does", () => {
      expect([4, 12, 13, 15].map(failedLoginMs)).to.deep.equal([202, 500, 800, 2_600]);
    });
  });
});
