import { expect } from "chai";
import { Login } from "../../../../src/application/accounts/login.ts";
import { People } from "../../../../src/application/accounts/people.ts";
import { Reservations } from "../../../../src/application/accounts/reservations.ts";
import { Sessions } from "../../../../src/application/accounts/sessions.ts";
import { PlatformKeys } from "../../../../src/application/keys/platform-keys.ts";
import { Refusal } from "../../../../src/domain/refusal.ts";
import { createTenant, freshEmail, password } from "../../../support/accounts.ts";
import { startApi, type TestApi } from "../../../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../../../support/api-engines.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { quiet, uncounted } from "../../../support/telemetry.ts";

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

  it("wait for their turn by address, whether the email exists or not", async () => {
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

  it("are counted by result, and failures told by address, without the email: the first, then how many", async () => {
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
    }, { limit: { max: 2, windowMs: 60_000 } });
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

  it("from more addresses than can be told apart are told together", async () => {
    const clock = new ManualClock();
    const lines: object[] = [];
    const state = { ...engines.state, admit: async () => null };
    const keys = { emailHash: async () => "hash" };
    const login = new Login({
      state, keys, clock, metrics: uncounted,
      logger: { ...quiet, warn: (fields: object, message: string) => lines.push({ ...fields, message }) },
    } as unknown as ConstructorParameters<typeof Login>[0], { limit: { max: 1, windowMs: 1 } });
    for (let n = 0; n < 103; n += 1) await login.login("a@example.com", "x", `2001:db8::${n}`).catch(() => undefined);
    clock.advance(10_000);
    expect(lines.slice(100)).to.deep.equal([
      { address: "2001:db8::100", result: "throttled", message: "a login failed" },
      { address: "many", logins: 2, message: "more logins failed" },
    ]);
  });
});
