import { expect } from "chai";
import { describeOnEngines, startApi, type TestApi } from "../support/api.ts";
import {
  Client,
  createTenant,
  createUser,
  freshEmail,
  login,
  openAccount,
  password,
  roleCodes,
  type Account,
  type Person,
} from "../support/accounts.ts";
import { http, shaped } from "../support/http.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";
const people = ["owner", "admin", "developer", "viewer"] as const;

describeOnEngines("users", (freshEngines) => {
  let api: TestApi;
  let one: Account;
  let other: Account;
  before(async () => {
    api = await startApi(await freshEngines());
    [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

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

    it("lets each role create up to its own, a Viewer none", async () => {
      const may: Readonly<Record<(typeof people)[number], readonly string[]>> = {
        owner: ["owner", "admin", "developer", "viewer"],
        admin: ["admin", "developer", "viewer"],
        developer: ["developer", "viewer"],
        viewer: [],
      };
      for (const by of people) {
        for (const role of people) {
          const answer = await one[by].client.post("/api/v1/users", {
            email: freshEmail(),
            password,
            role: roleCodes[role],
          });
          expect(answer.status, `${by} creates ${role}`).to.equal(may[by].includes(role) ? 201 : 403);
        }
      }
    });

    it("takes an email of 255 characters, however they are shared out", async () => {
      const email = `${"x".repeat(242)}@long.example`;
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

    it("gives 409 for an email in use anywhere, in any case; but first 403 to who may not create", async () => {
      for (const email of [one.viewer.email, other.owner.email.toUpperCase()]) {
        expect((await one.admin.client.post("/api/v1/users", { email, password })).status).to.equal(409);
        expect((await one.viewer.client.post("/api/v1/users", { email, password })).status).to.equal(403);
      }
    });

    it("gives 401 without a token", async () => {
      expect((await new Client(api.url).post("/api/v1/users", { email: freshEmail(), password })).status).to.equal(401);
    });
  });

  describe("reading", () => {
    it("gives 200, 403 for another tenant's, 404 for no one's", async () => {
      expect(shaped(await one.viewer.client.get(path(one.owner)), "user")).to.include({
        email: one.owner.email,
        role: "Owner",
      });
      expect((await one.owner.client.get(path(other.viewer))).status).to.equal(403);
      expect((await one.owner.client.get(`/api/v1/users/${nowhere}`)).status).to.equal(404);
      expect((await one.owner.client.get("/api/v1/users/me")).status).to.equal(404);
      expect((await new Client(api.url).get(path(one.owner))).status).to.equal(401);
    });
  });

  describe("change", () => {
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
        expect((await person.client.patch(path(person), { password: "another password" })).status, role).to.equal(200);
        expect(await loginStatus(email, "another password")).to.equal(200);
        expect(await loginStatus(email, password)).to.equal(401);
        expect(await loginStatus(person.email, "another password")).to.equal(401);
      }
    });

    it("frees the old email, and gives 409 for one in use", async () => {
      const person = await createUser(one.owner.client, "developer");
      const email = freshEmail();
      expect((await person.client.patch(path(person), { email: other.owner.email })).status).to.equal(409);
      expect((await person.client.patch(path(person), { email })).status).to.equal(200);
      expect((await other.owner.client.post("/api/v1/users", { email, password })).status).to.equal(409);
      expect((await other.owner.client.post("/api/v1/users", { email: person.email, password })).status).to.equal(201);
      expect((await person.client.patch(path(person), { email: email.toUpperCase() })).json["email"]).to.equal(
        email.toUpperCase(),
      );
    });

    it("holds the rules of roles", async () => {
      // [who, whom, change, expected]; whoever is changed is made anew.
      type Role = (typeof people)[number];
      const table: [Role, Role, object, number][] = [
        ["owner", "viewer", { role: 10 }, 200],
        ["owner", "owner", { role: 0 }, 200],
        ["owner", "owner", { status: 1 }, 200],
        ["owner", "admin", { email: freshEmail() }, 200],
        ["admin", "developer", { role: 1 }, 200],
        ["admin", "developer", { role: 10 }, 403],
        ["admin", "admin", { role: 0 }, 200],
        ["admin", "owner", { role: 0 }, 403],
        ["admin", "owner", { email: freshEmail() }, 403],
        ["admin", "owner", { password: "another password" }, 403],
        ["admin", "viewer", { status: 1 }, 200],
        ["developer", "viewer", { role: 0 }, 403],
        ["developer", "viewer", { email: freshEmail() }, 403],
        ["developer", "viewer", { password: "another password" }, 403],
        ["developer", "viewer", { status: 1 }, 403],
        ["viewer", "viewer", { email: freshEmail() }, 403],
        ["viewer", "developer", {}, 403],
      ];
      for (const [by, whom, change, expected] of table) {
        const target = await createUser(one.owner.client, whom);
        const answer = await one[by].client.patch(path(target), change);
        expect(answer.status, `${by} changes ${whom} ${JSON.stringify(change)}: ${answer.text}`).to.equal(expected);
      }
    });

    it("lets nobody raise itself", async () => {
      for (const role of ["admin", "developer", "viewer"] as const) {
        const person = await createUser(one.owner.client, role);
        expect((await person.client.patch(path(person), { role: 10 })).status).to.equal(403);
        if (role !== "admin") expect((await person.client.patch(path(person), { status: 1 })).status).to.equal(403);
      }
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

    it("gives 400, 401, 403 and 404 in that order", async () => {
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
      expect((await one.owner.client.patch(path({ id: nowhere }), { role: 0 })).status).to.equal(404);
      expect((await one.viewer.client.patch(path(other.viewer), { role: 0 })).status).to.equal(403);
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

    it("needs Admin, and an Owner for an Owner", async () => {
      const target = async (role: (typeof people)[number]) => path(await createUser(one.owner.client, role));
      expect((await one.developer.client.delete(await target("viewer"))).status).to.equal(403);
      expect((await one.viewer.client.delete(path(one.viewer))).status).to.equal(403);
      expect((await one.admin.client.delete(await target("owner"))).status).to.equal(403);
      expect((await one.admin.client.delete(await target("admin"))).status).to.equal(204);
      expect((await one.owner.client.delete(await target("owner"))).status).to.equal(204);
    });

    it("gives 401, 403 for another tenant's and 404 for no one's", async () => {
      expect((await new Client(api.url).delete(path(one.viewer))).status).to.equal(401);
      expect((await one.owner.client.delete(path(other.viewer))).status).to.equal(403);
      expect((await one.owner.client.delete(path({ id: nowhere }))).status).to.equal(404);
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
