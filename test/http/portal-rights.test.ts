import { expect } from "chai";
import { openAccount, openIngest, unique } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { embeddedEngines, type SharedEngines } from "../support/api-engines.ts";
import { apiDocument } from "../support/document.ts";
import { goodRequests, type GoodRequest, type Scene } from "../support/good-requests.ts";
import type { HttpAnswer } from "../support/http.ts";
import { openPortal, type Visitor } from "../support/portal.ts";
import { portalRights } from "../support/rights.ts";

const rights = ["read", "replay", "test", "configure"] as const;
type Right = (typeof rights)[number];

const rows = portalRights.split("\n").filter(Boolean).map((line) => {
  const [operationId = "", right = "", named, unnamed] = line.split("|").map((cell) => cell.trim());
  return { operationId, right, named: Number(named), unnamed: unnamed === "-" ? null : Number(unnamed) };
});

const operations = Object.entries(apiDocument.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })));
const needing = operations.filter(({ security }) =>
  security.some((scheme) => "accessToken" in scheme || "sessionCookie" in scheme || "portalCookie" in scheme));
const operationOf = (id: string) =>
  operations.find(({ operationId }) => operationId === id) ?? expect.fail(`no ${id}`);

const ownerId = "customer";
const url = "https://receiver.example/hook";

describe("visitors of the portal, by what their links name and allow", () => {
  let engines: SharedEngines;
  let api: TestApi;
  /** The tenant with things that no link names, and with those of the customer. */
  let tenants: Scene;
  let customers: Scene;
  const visitors = new Map<string, Visitor>();
  before(async () => {
    engines = await embeddedEngines();
    api = await startApi(engines);
    const [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
    const ingest = await openIngest(one.owner.client, one.tenantId);
    tenants = { api, clock: engines.clock, one, other, ingest };
    const own = await openIngest(one.owner.client, one.tenantId);
    await one.owner.client.api.updateDestination({ id: own.destinationId }, { ownerId });
    customers = { ...tenants, ingest: own };
  });
  after(async () => {
    await api.close();
    await engines.close();
  });
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const visitorWith = async (may: readonly Right[]): Promise<Visitor> => {
    const known = visitors.get(may.join());
    if (known) return known;
    const { visitor } = await openPortal(tenants.one, { ownerId, may: [...may] });
    visitors.set(may.join(), visitor);
    return visitor;
  };

  const newDestination = async (owner: string | null) => ({
    params: { id: (await tenants.one.owner.client.api.createDestination({ url, ownerId: owner })).id },
  });
  const newSubscription = async (owner: string | null) => {
    const { api: by } = tenants.one.owner.client;
    const { params: { id: destinationUrlId } } = await newDestination(owner);
    const { id: senderId } = await by.createSender({ name: unique("sender"), fanOut: true });
    const { id } = await by.createSubscription({ senderId, destinationUrlId, ownerId: owner });
    return { senderId, destinationUrlId, id };
  };
  const ofSubscription = async (owner: string | null) => ({ params: { id: (await newSubscription(owner)).id } });

  /** Requests about things of an owner, where the good request is about others. */
  const about: Readonly<Record<string, (owner: string | null) => Promise<GoodRequest>>> = {
    getDestination: newDestination,
    listCircuitHistory: newDestination,
    updateDestination: async (owner) => ({ ...(await newDestination(owner)), json: { name: "renamed" } }),
    deleteDestination: newDestination,
    getSigningSecret: newDestination,
    expireSigningSecrets: newDestination,
    removeSigningSecret: newDestination,
    removeSigningKey: newDestination,
    replaceSigningSecret: newDestination,
    replaceSigningKey: newDestination,
    regenerateDestinationToken: newDestination,
    testDestination: async (owner) => ({ ...(await newDestination(owner)), json: {} }),
    createSubscription: async (owner) => {
      const { senderId } = await newSubscription(null);
      return { json: { senderId, destinationUrlId: (await newDestination(owner)).params.id } };
    },
    getSubscription: ofSubscription,
    listSubscriptionHistory: ofSubscription,
    updateSubscription: async (owner) => ({ ...(await ofSubscription(owner)), json: { status: "inactive" } }),
    deleteSubscription: ofSubscription,
    endPortalSession: async () => ({}),
    getPortalSession: async () => ({}),
  };

  const requestOf = async (id: string, isNamed: boolean): Promise<GoodRequest> => {
    const own = about[id];
    if (own) return own(isNamed ? ownerId : null);
    const scene = isNamed ? customers : tenants;
    const good = await goodRequests[id]!(scene);
    const { path, parameters } = operationOf(id);
    const isFiltered = parameters.some((one) => "in" in one && one.in === "query" && one.name === "DestinationUrlId");
    if (path.includes("{id}") || !isFiltered) return good;
    const filter = `DestinationUrlId=${scene.ingest.destinationId}`;
    return { ...good, query: good.query === undefined ? `?${filter}` : `${good.query}&${filter}` };
  };

  /** Sends a request; fails if a refusal wrote to the log. */
  const ask = async (
    id: string, { params = {}, query = "", json }: GoodRequest, visitor: Visitor,
  ): Promise<HttpAnswer> => {
    const { path, method } = operationOf(id);
    const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => params[name] ?? "");
    const head = await engines.store.head();
    const answer = await visitor.call(method, filled + query, json ? { json } : {});
    if (answer.status >= 400) expect(await engines.store.head(), "a refusal wrote something").to.equal(head);
    return answer;
  };

  it("are described with the right of every operation that they have", () => {
    const declared = needing.filter(({ "x-access": access }) => access?.portal !== undefined);
    expect(rows.map(({ operationId }) => operationId)).to.have.members(declared.map(({ operationId }) => operationId));
    for (const { operationId, right } of rows) {
      const { "x-access": access, description = "", security } = operationOf(operationId);
      expect(access?.portal, operationId).to.equal(right);
      expect(security.some((scheme) => "portalCookie" in scheme), operationId).to.equal(true);
      if (rights.some((one) => one === right)) expect(description).to.include(`Portal: links that may \`${right}\``);
    }
  });

  for (const { operationId: id, "x-access": access } of needing) {
    if (access?.portal !== undefined) continue;
    it(`${id} is 404, whatever the link allows`, async () => {
      const visitor = await visitorWith(rights);
      for (const isNamed of [true, false]) {
        const answer = await ask(id, await requestOf(id, isNamed), visitor);
        expect([answer.status, answer.text]).to.deep.equal([404, "not found"]);
      }
    });
  }

  for (const { operationId: id, right, named, unnamed } of rows) {
    it(`${id}: ${right}`, async () => {
      const all = id === "endPortalSession"
        ? (await openPortal(tenants.one, { ownerId, may: ["read"] })).visitor : await visitorWith(rights);
      const answer = await ask(id, await requestOf(id, true), all);
      expect(answer.status, `named: ${answer.text}`).to.equal(named);
      if (unnamed !== null) {
        const other = await ask(id, await requestOf(id, false), all);
        expect(other.status, `not named: ${other.text}`).to.equal(unnamed);
      }
      const others = rights.filter((one) => one !== right);
      if (right === "any" || right === "none") return;
      const lacking = await visitorWith(others);
      const refused = await ask(id, await requestOf(id, true), lacking);
      expect([refused.status, refused.text]).to.deep.equal([403, `the portal link lacks the right to ${right}`]);
      if (unnamed !== null && operationOf(id).path.includes("{id}")) {
        expect((await ask(id, await requestOf(id, false), lacking)).status).to.equal(404);
      }
    });
  }

  it("get 401 from every operation once the session is over", async () => {
    const { visitor, id: link } = await openPortal(tenants.one, { ownerId, may: [...rights] });
    await tenants.one.admin.client.api.deletePortalLink({ id: link });
    for (const { operationId: id } of needing) {
      const answer = await ask(id, await requestOf(id, true), visitor);
      expect(answer.status, `${id}: ${answer.text}`).to.equal(401);
    }
  }).timeout(60_000);
});
