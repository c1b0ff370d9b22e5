import { expect } from "chai";
import { createTenant, createUser, freshEmail, openIngest, password, unique } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines } from "../support/api-engines.ts";
import { http } from "../support/http.ts";
import { sized } from "../support/size.ts";

const crowd = Array.from({ length: 50 }, (_, index) => index);
const rounds = sized(20, 1_000);
const patienceMs = sized(120_000, 3_600_000);

describeOnEngines("R4 races of 50", (freshEngines) => {
  let processes: TestApi[];
  before(async () => {
    const engines = await freshEngines();
    processes = [await startApi(engines), await startApi(engines)];
  });
  after(() => Promise.all(processes.map((api) => api.close())));
  afterEach(() => expect(processes.flatMap(({ errors }) => errors)).to.deep.equal([]));

  /** Half of the crowd goes to each process. */
  const url = (index: number) => processes[index % processes.length]?.url ?? "";
  const oneWinner = (statuses: readonly number[], winner: number, loser: number) => {
    expect(
      statuses.filter((status) => status === winner),
      statuses.join(),
    ).to.have.length(1);
    expect(
      statuses.filter((status) => status === loser),
      statuses.join(),
    ).to.have.length(crowd.length - 1);
  };

  it("for one tenant name have one winner", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const name = unique("Race");
      const answers = await Promise.all(
        crowd.map((index) =>
          http("POST", `${url(index)}/api/v1/tenants`, {
            json: { name: index % 2 ? name : name.toUpperCase(), ownerEmail: freshEmail(), ownerPassword: password },
          }),
        ),
      );
      oneWinner(
        answers.map(({ status }) => status),
        201,
        409,
      );
    }
  }).timeout(patienceMs);

  it("for one email have one winner, among new tenants and new users", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const { owner } = await createTenant(url(0));
      const email = freshEmail();
      const answers = await Promise.all(
        crowd.map((index) => {
          const user = { email: email.toUpperCase(), password };
          if (index % 4 < 2) return owner.client.at(url(index)).post("/api/v1/users", user);
          const tenant = { name: unique("Race"), ownerEmail: email, ownerPassword: password };
          return http("POST", `${url(index)}/api/v1/tenants`, { json: tenant });
        }),
      );
      oneWinner(
        answers.map(({ status }) => status),
        201,
        409,
      );
    }
  }).timeout(patienceMs);

  it("for one tenant name are not lost to a request with a taken email", async () => {
    const { owner } = await createTenant(url(0));
    for (let round = 0; round < 20; round += 1) {
      const name = unique("Race");
      const emails = [freshEmail(), owner.email, owner.email, owner.email];
      const answers = await Promise.all(emails.map((ownerEmail, index) =>
        http("POST", `${url(index)}/api/v1/tenants`, { json: { name, ownerEmail, ownerPassword: password } })));
      expect(answers.map(({ status }) => status)).to.deep.equal([201, 409, 409, 409]);
    }
  }).timeout(patienceMs);

  it("between the deletion of a user and another email for it leave neither email taken", async () => {
    const { owner } = await createTenant(url(0));
    for (let round = 0; round < 10; round += 1) {
      const user = await createUser(owner.client, "developer");
      const [path, email] = [`/api/v1/users/${user.id}`, freshEmail()];
      const [deleted] = await Promise.all([owner.client.delete(path), owner.client.at(url(1)).patch(path, { email })]);
      expect(deleted.status, deleted.text).to.equal(204);
      for (const free of [user.email, email]) {
        expect((await owner.client.post("/api/v1/users", { email: free, password })).status, free).to.equal(201);
      }
    }
  }).timeout(patienceMs);

  it("for one idempotency key have one winner, the event of all", async () => {
    const { owner, tenantId } = await createTenant(url(0));
    const { path, apiKey } = await openIngest(owner.client, tenantId);
    for (let round = 0; round < rounds; round += 1) {
      const headers = { "x-api-key": apiKey, "x-idempotency-key": unique("key") };
      const answers = await Promise.all(
        crowd.map((index) => http("POST", url(index) + path, { headers, json: { round, index } })),
      );
      oneWinner(
        answers.map(({ status }) => status),
        202,
        200,
      );
      expect(new Set(answers.map(({ json }) => json["eventId"])).size).to.equal(1);
    }
    expect((await owner.client.get("/api/v1/events")).json["total"]).to.equal(rounds);
  }).timeout(patienceMs);

  it("for one email have one winner among users who change to it", async () => {
    const { owner } = await createTenant(url(0));
    const users = await Promise.all(crowd.map(() => createUser(owner.client, "developer")));
    const email = freshEmail();
    const answers = await Promise.all(
      users.map(({ id, client }, index) => client.at(url(index)).patch(`/api/v1/users/${id}`, { email })),
    );
    oneWinner(
      answers.map(({ status }) => status),
      200,
      409,
    );
    // The losers kept their emails; the winner's old email is free.
    const logins = await Promise.all(
      users.map((user, index) =>
        http("POST", `${url(index)}/api/v1/auth/login`, { json: { email: user.email, password } }),
      ),
    );
    oneWinner(
      logins.map(({ status }) => status),
      401,
      200,
    );
  });

  it("between equal changes of one thing report a concurrent change, not a taken name", async () => {
    const { owner, tenantId } = await createTenant(url(0));
    const renamed = async (path: string, change: object, overtaken: string) => {
      const answers = await Promise.all(crowd.map((index) => owner.client.at(url(index)).patch(path, change)));
      for (const { status, text } of answers) {
        if (status !== 200) expect([status, text]).to.deep.equal([409, overtaken]);
      }
      expect(answers.some(({ status }) => status === 200)).to.equal(true);
    };
    await renamed(`/api/v1/tenants/${tenantId}`, { name: unique("Own") }, "name: was changed by another request");
    await renamed(`/api/v1/users/${owner.id}`, { email: freshEmail() }, "email: was changed by another request");
  });

  it("between different new emails of one user leave only the current email taken", async () => {
    const { owner } = await createTenant(url(0));
    const emails = crowd.slice(0, 10).map(() => freshEmail());
    await Promise.all(
      emails.map((email, index) => owner.client.at(url(index)).patch(`/api/v1/users/${owner.id}`, { email })),
    );
    const { email: now } = (await owner.client.get(`/api/v1/users/${owner.id}`)).json;
    const others = emails.filter((email) => email !== now);
    expect(others).to.have.length(emails.length - 1);
    for (const email of others) {
      expect((await owner.client.post("/api/v1/users", { email, password })).status, email).to.equal(201);
    }
  });

  it("between different new names of one tenant leave only the current name taken", async () => {
    const { owner, tenantId } = await createTenant(url(0));
    const names = crowd.slice(0, 10).map((index) => unique(`Name ${index} `));
    await Promise.all(
      names.map((name, index) => owner.client.at(url(index)).patch(`/api/v1/tenants/${tenantId}`, { name })),
    );
    const { name: now } = (await owner.client.get(`/api/v1/tenants/${tenantId}`)).json;
    const others = names.filter((name) => name !== now);
    expect(others).to.have.length(names.length - 1);
    for (const name of others) {
      const json = { name, ownerEmail: freshEmail(), ownerPassword: password };
      expect((await http("POST", `${url(0)}/api/v1/tenants`, { json })).status, name).to.equal(201);
    }
  });

  it("never leave a tenant without an active Owner", async () => {
    const { owner } = await createTenant(url(0));
    const second = await createUser(owner.client, "owner");
    const path = (person: { id: string }) => `/api/v1/users/${person.id}`;
    const answers = await Promise.all([
      owner.client.patch(path(owner), { role: 1 }),
      second.client.at(url(1)).patch(path(second), { role: 1 }),
    ]);
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 422]);
  });

  it("all win when they write different things in one tenant", async () => {
    const { owner } = await createTenant(url(0));
    const answers = await Promise.all(
      crowd.map((index) => owner.client.at(url(index)).post("/api/v1/users", { email: freshEmail(), password })),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(crowd.map(() => 201));
    expect((await owner.client.get("/api/v1/users")).json["total"]).to.equal(crowd.length + 1);
  });
});
