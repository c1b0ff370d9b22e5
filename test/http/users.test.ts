import { expect } from "chai";
import {
  Client,
  createTenant,
  createUser,
  freshEmail,
  login,
  password,
  unique,
  type Account,
  type Person,
} from "../support/accounts.ts";
import type { TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { twoTenantStage } from "../support/api-stage.ts";
import { http, shaped } from "../support/http.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";
const people = ["owner", "admin", "developer", "viewer"] as const;

describeOnEngines("users", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let other: Account;
  twoTenantStage(freshEngines, (stage) => ({ engines, api, one, other } = stage));

  const path = (person: { readonly id: string }) => `/api/v1/users/${person.id}`;
  const loginStatus = async (email: string, secret: string) =>
    (await http("POST", `${api.url}/api/v1/auth/login`, { json: { email, password: secret } })).status;

  describe("creation", () => {
    it("gives 201 with the user, a Developer unless told otherwise", async () => {
      const email = freshEmail();
      const answer = await one.owner.client.post("/api/v1/users", { email, password });
      expect(answer.status).to.equal(201);
      const { id, ...user } = shaped(answer, "user");
      expect(user).to.include({ tenantId: one.tenantId, email, status: "Active", role: "Developer" });
      expect((await one.viewer.client.get(`/api/v1/users/${String(id)}`)).text).to.equal(answer.text);
      expect(answer.text).not.to.include(password);
    });

    it("takes an email of 255 characters, 242 of them in its local part", async () => {
      const email = `${unique("x").padEnd(242, "x")}@long.example`;
      expect(email).to.have.length(255);
      const answer = await one.owner.client.post("/api/v1/users", { email, password });
      expect([answer.status, answer.json["email"]], answer.text).to.deep.equal([201, email]);
    });

    const bad: [object, string][] = [
      [{ email: "x" }, "email"],
      [{ email: `${"x".repeat(243)}@long.example` }, "email"],
      [{ email: undefined }, "email"],
      [{ email: null }, "email"],
      [{ email: `${"x".repeat(64)}@${"y".repeat(60)}.${"z".repeat(60)}.${"w".repeat(60)}.${"v".repeat(20)}` }, "email"],
      [{ password: "" }, "password"],
      [{ password: "short" }, "password"],
      [{ password: undefined }, "password"],
      [{ password: "p".repeat(73) }, "password"],
      [{ password: 12345678 }, "password"],
      [{ password: "with\0nul.." }, "password"],
      [{ role: 2 }, "role"],
      [{ role: "0" }, "role"],
      [{ role: null }, "role"],
      [{ role: -1 }, "role"],
      [{ role: 0.5 }, "role"],
    ];
    for (const [fields, field] of bad) {
      it(`gives 400 naming ${field} for ${JSON.stringify(fields).slice(0, 60)}`, async () => {
        const answer = await one.owner.client.post("/api/v1/users", { email: freshEmail(), password, ...fields });
        expect([answer.status, answer.text.split(":")[0]]).to.deep.equal([400, field]);
      });
    }

    it("explains the numbers of roles and statuses in refusals", async () => {
      const meanings = "0 Developer, 1 Admin, 10 Owner, 20 Viewer";
      for (const role of [2, "Admin"]) {
        const answer = await one.owner.client.post("/api/v1/users", { email: freshEmail(), password, role });
        expect(answer.text).to.equal(`role: must be an integer: ${meanings}`);
      }
      expect((await one.owner.client.get("/api/v1/users?Role=Admin")).text).to.equal(
        `Role: must be an integer: ${meanings}`,
      );
      expect((await one.owner.client.patch(path(one.viewer), { status: "Inactive" })).text).to.equal(
        "status: must be an integer: 0 Active, 1 Inactive",
      );
    });

    it("gives 409 for an email in use anywhere, in any case; but first 403 to a forbidden role", async () => {
      for (const email of [one.viewer.email, other.owner.email.toUpperCase()]) {
        expect((await one.admin.client.post("/api/v1/users", { email, password })).status).to.equal(409);
        expect((await one.viewer.client.post("/api/v1/users", { email, password })).status).to.equal(403);
      }
    });
  });

  describe("change", () => {
    /** Asks for a new password of a user; resolves while it is being hashed. The result lets the hashing go on. */
    const changesPassword = async (person: Person) => {
      const { passwords } = api.world;
      const hash = passwords.hash.bind(passwords);
      const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      passwords.hash = async (...asked) => {
        begun.resolve();
        await held.promise;
        return hash(...asked);
      };
      const answer = one.owner.client.patch(path(person), { password: "another password" });
      await begun.promise;
      passwords.hash = hash;
      return () => {
        held.resolve();
        return answer;
      };
    };

    it("is dated at its append, not before the hashing of its password", async () => {
      const person = await createUser(one.owner.client, "developer");
      const slow = await changesPassword(person);
      engines.clock.advance(1_000);
      const quick = (await one.owner.client.patch(path(person), { role: 20 })).json;
      const { json } = await slow();
      expect(Date.parse(String(json["updatedAt"]))).to.be.at.least(Date.parse(String(quick["updatedAt"])));
    });

    it("of a password does not conflict with a change of the email", async () => {
      const person = await createUser(one.owner.client, "developer");
      const slow = await changesPassword(person);
      const email = freshEmail();
      expect((await one.owner.client.patch(path(person), { email })).status).to.equal(200);
      expect((await slow()).json["email"]).to.equal(email);
      expect(await loginStatus(email, "another password")).to.equal(200);
    });

    it("changes only the fields present", async () => {
      const person = await createUser(one.owner.client, "developer");
      const answer = await one.admin.client.patch(path(person), { role: 20 });
      expect(answer.status).to.equal(200);
      expect(shaped(answer, "user")).to.include({
        id: person.id,
        email: person.email,
        role: "Viewer",
        status: "Active",
      });
      expect((await one.admin.client.patch(path(person), { status: 1 })).json).to.include({
        role: "Viewer",
        status: "Inactive",
      });
      expect((await one.admin.client.patch(path(person), { status: 0 })).json).to.include({ status: "Active" });
    });

    it("gives everyone its own email and password", async () => {
      for (const role of people) {
        const person = await createUser(one.owner.client, role);
        const email = freshEmail();
        expect((await person.client.patch(path(person), { email })).json["email"], role).to.equal(email);
        const newest = (await one.owner.client.get("/api/v1/users?CpOrd=createdAt&TpOrd=desc&Qt=1")).json;
        expect((newest["items"] as object[])[0], "in lists").to.include({ id: person.id, email });
        expect((await person.client.patch(path(person), { password: "another password" })).status, role).to.equal(200);
        expect(await loginStatus(email, "another password")).to.equal(200);
        expect(await loginStatus(email, password)).to.equal(401);
        expect(await loginStatus(person.email, "another password")).to.equal(401);
      }
    });

    it("frees the old email, and gives 409 for one in use; but first 403 to a forbidden role", async () => {
      const person = await createUser(one.owner.client, "developer");
      const email = freshEmail();
      expect((await person.client.patch(path(person), { email: other.owner.email })).status).to.equal(409);
      expect((await one.viewer.client.patch(path(person), { email: other.owner.email })).status).to.equal(403);
      expect((await person.client.patch(path(person), { email })).status).to.equal(200);
      expect((await other.owner.client.post("/api/v1/users", { email, password })).status).to.equal(409);
      expect((await other.owner.client.post("/api/v1/users", { email: person.email, password })).status).to.equal(201);
      expect((await person.client.patch(path(person), { email: email.toUpperCase() })).json["email"]).to.equal(
        email.toUpperCase(),
      );
    });

    it("keeps the last active Owner: 422", async () => {
      const { owner } = await createTenant(api.url);
      const second = await createUser(owner.client, "owner");
      expect((await owner.client.patch(path(second), { status: 1 })).status).to.equal(200);
      for (const change of [{ role: 1 }, { status: 1 }, { role: 0, email: freshEmail() }]) {
        expect((await owner.client.patch(path(owner), change)).status).to.equal(422);
      }
      expect((await owner.client.delete(path(owner))).status).to.equal(422);
      expect((await owner.client.patch(path(owner), { role: 10, status: 0 })).status).to.equal(200);
    });

    it("gives 401, then 400, before the user is looked up", async () => {
      for (const change of [
        { email: "x" },
        { password: "" },
        { role: 3 },
        { role: "1" },
        { status: 2 },
        { status: true },
        { email: null },
      ]) {
        expect((await one.owner.client.patch(path({ id: nowhere }), change)).status, JSON.stringify(change)).to.equal(
          400,
        );
      }
      expect((await new Client(api.url).patch(path(one.viewer), { role: 3 })).status).to.equal(401);
    });
  });

  describe("deletion", () => {
    it("gives 204, and the user is gone: its sessions, its login, its record", async () => {
      const person = await createUser(one.owner.client, "developer");
      const answer = await one.admin.client.delete(path(person));
      expect([answer.status, answer.text]).to.deep.equal([204, ""]);
      expect((await person.client.get(path(person))).status).to.equal(401);
      expect(await loginStatus(person.email, password)).to.equal(401);
      expect((await one.owner.client.get(path(person))).status).to.equal(404);
      expect((await one.owner.client.delete(path(person))).status).to.equal(404);
      expect((await other.owner.client.get(path(person))).status).to.equal(404);
    });

    it("frees the email", async () => {
      const person = await createUser(one.owner.client, "developer");
      await one.owner.client.delete(path(person));
      expect((await other.owner.client.post("/api/v1/users", { email: person.email, password })).status).to.equal(201);
    });
  });

  describe("sessions end at once", () => {
    const endings: [string, (person: Person) => Promise<unknown>, boolean][] = [
      ["the password changes", (person) => person.client.patch(path(person), { password: "another password" }), true],
      ["the role changes", (person) => one.owner.client.patch(path(person), { role: 20 }), true],
      ["the user is deactivated", (person) => one.owner.client.patch(path(person), { status: 1 }), true],
      ["the user is deleted", (person) => one.owner.client.delete(path(person)), true],
      ["the email changes", (person) => person.client.patch(path(person), { email: freshEmail() }), false],
      [
        "the same values are set",
        (person) => person.client.patch(path(person), { email: person.email, password }),
        false,
      ],
      ["an Admin sets the same", (person) => one.admin.client.patch(path(person), { role: 0, status: 0 }), false],
    ];
    for (const [what, end, ended] of endings) {
      it(`${ended ? "when" : "but not when"} ${what}`, async () => {
        const person = await createUser(one.owner.client, "developer");
        const second = await login(api.url, person.email);
        await end(person);
        for (const client of [person.client, second])
          expect((await client.get("/api/v1/users")).status).to.equal(ended ? 401 : 200);
      });
    }

    it("and stay over when the user is activated again", async () => {
      const person = await createUser(one.owner.client, "developer");
      await one.owner.client.patch(path(person), { status: 1 });
      await one.owner.client.patch(path(person), { status: 0 });
      expect((await person.client.get("/api/v1/users")).status).to.equal(401);
      expect((await (await login(api.url, person.email)).get("/api/v1/users")).status).to.equal(200);
    });
  });
});
