import { expect } from "chai";
import { mostServiceKeys } from "../../src/features/keys/service-accounts/decide.ts";
import { mostSubscriptions } from "../../src/features/notifications/decide.ts";
import { CloudRegistrationGuards } from "../../src/features/tenants/registration-guards.ts";
import { mostViews } from "../../src/features/views/commands.ts";
import type { DocumentedOperation } from "../../src/http/openapi/document.ts";
import { mostNamed } from "../../src/kernel/callers/caller.ts";
import { eventIdOf } from "../../src/kernel/domain/event-id.ts";
import { mostSecrets } from "../../src/kernel/domain/signing-secrets.ts";
import { timestamp } from "../../src/kernel/domain/time.ts";
import type { DisposableDomains } from "../../src/kernel/ports/disposable-domains.ts";
import { LogUnavailable } from "../../src/kernel/ports/event-store.ts";
import { ExpiringStateUnavailable } from "../../src/kernel/ports/expiring-state.ts";
import { PlatformKeys } from "../../src/kernel/sealing/platform-keys.ts";
import { acceptEvent } from "../support/accepted-event.ts";
import {
  createService, createTenant, createUser, openAccount, openIngest, password, signIn, type Client,
} from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";
import { apiDocument } from "../support/document.ts";
import { EventStream } from "../support/event-stream.ts";
import {
  acceptedEvent, freshInvite, givenUpEvent, goodRequests, type GoodRequest, type Scene,
} from "../support/good-requests.ts";
import { http, type HttpAnswer, type HttpOptions } from "../support/http.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { Deliveries } from "../support/outcomes.ts";
import { openPortal, registerMany } from "../support/portal.ts";
import { quiet, uncounted } from "../support/telemetry.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";
const maxBodyBytes = 4_096;
const dayMs = 86_400_000;

interface Described {
  readonly method: string;
  readonly path: string;
  readonly operation: DocumentedOperation;
}

const operations = Object.entries(apiDocument.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): Described => ({ method: method.toUpperCase(), path, operation })));
const documented = operations.flatMap((described) =>
  Object.keys(described.operation.responses).map((status) => ({ ...described, status: Number(status) })));
const nameOf = ({ operation }: Described, status: number) => `${operation.operationId} ${status}`;

/** Answers that the contract and so the document promise, but no request can provoke. */
const unreachable: Readonly<Record<string, string>> = {
  "createDestination 404": "a session ends with its tenant, so that 401 comes first",
};

interface Stage extends Scene {
  readonly engines: InMemoryEngines;
}

/** Calls an operation with a valid request, or with an invalid one by `changes`. */
async function ask(
  { api, one, ingest }: Scene,
  { method, path, operation }: Described,
  good: GoodRequest,
  changes: HttpOptions & { readonly by?: Client | null; readonly query?: string } = {},
): Promise<HttpAnswer> {
  const { params = {}, json, headers, as = one.owner.client } = good;
  const { by = as, query = good.query ?? "", ...options } = changes;
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? expect.fail(`no ${name}`));
  const [scheme] = operation.security.flatMap((needed) => Object.keys(needed));
  const shown = {
    ...(scheme === "accessToken" && by ? { authorization: `Bearer ${by.token ?? ""}` } : {}),
    ...(scheme === "producerKey" && by ? { "x-api-key": ingest.apiKey } : {}),
  };
  return http(method, api.url + target + query, {
    ...(json === undefined ? {} : { json }),
    ...options,
    headers: { ...shown, ...headers, ...options.headers },
  });
}

type Provoke = (stage: Stage, described: Described, good: GoodRequest) => Promise<HttpAnswer>;

/** How to provoke a status in any operation that has it. */
const anywhere: Readonly<Record<number, Provoke>> = {
  400: async (stage, described, good) => {
    const { parameters } = described.operation;
    const [inQuery] = parameters.flatMap((one) => ("in" in one && one.in === "query" ? [one.name] : []));
    if (inQuery !== undefined) return ask(stage, described, good, { query: `?${inQuery}=` });
    if (!described.operation.requestBody) return ask(stage, described, good, { query: "?CorrelationId=1" });
    return ask(stage, described, { ...good, json: [] });
  },
  401: (stage, described, good) => ask(stage, described, good, { by: null, headers: { cookie: "" } }),
  // Another site's page, or another tenant's thing; if the path names none, a key without a scope for it.
  403: async (stage, described, good) => {
    if ("$ref" in described.operation.responses[403]!) {
      const { cookie } = await signIn(stage.api.url, stage.one.owner.email);
      return ask(stage, described, good, { by: null, headers: { cookie, "sec-fetch-site": "cross-site" } });
    }
    if (!described.path.includes("{id}")) return byLimitedKey(stage, described, good);
    return ask(stage, described, good, { by: stage.other.owner.client });
  },
  404: async (stage, described, good) => {
    if (described.path.includes("{id}")) {
      return ask(stage, described, { ...good, params: { ...good.params, id: nowhere } });
    }
    const { visitor } = await openPortal(stage.one, { ownerId: "customer-42", may: ["read"] });
    const { "x-access": access } = described.operation;
    const own = good.query ?? "";
    const query = access?.portal === undefined ? own : `${own === "" ? "?" : `${own}&`}DestinationUrlId=${nowhere}`;
    return ask(stage, described, good, { by: null, headers: visitor.headers, query });
  },
  412: async (stage, described, good) => {
    const head = await stage.engines.store.head();
    const answer = await ask(stage, described, good, { headers: { "x-relay-principal": nowhere } });
    expect(await stage.engines.store.head(), "something was written").to.equal(head);
    return answer;
  },
  413: (stage, described, good) => ask(stage, described, { ...good, json: { a: "x".repeat(maxBodyBytes) } }),
  415: (stage, described, good) => ask(stage, described, good, { headers: { "content-type": "text/plain" } }),
  431: (stage, described, good) => ask(stage, described, good, { headers: { "x-long": "x".repeat(20_000) } }),
  500: defect(withoutLog),
  503: (stage, described, good) =>
    withoutLog(stage, new LogUnavailable("away"), () => ask(stage, described, good)),
};

/** The answer to a request that meets an error nobody expects. */
function defect(withError: typeof withoutLog): Provoke {
  return (stage, described, good) =>
    withError(stage, new Error("a detail"), async () => {
      const answer = await ask(stage, described, good);
      (stage.api.errors as object[]).length = 0;
      return answer;
    });
}

/** A request by a key that has no scope for the operation. */
const byLimitedKey: Provoke = async (stage, described, good) => {
  const { client } = await createService(stage.one.owner.client, "viewer", ["portal:write"]);
  return ask(stage, described, good, { by: client });
};

/** Statuses that need steps of their own. */
const withMostKeys: Provoke = async (stage, described, good) => {
  const id = good.params?.["id"] ?? "";
  const count = good.params?.["keyId"] === undefined ? 0 : 1;
  for (let key = count; key < mostServiceKeys; key += 1) {
    await stage.one.owner.client.api.createServiceKey({ id }, { name: "key" });
  }
  return ask(stage, described, good);
};

const stories: Readonly<Record<string, Provoke>> = {
  "getTenant 403": byLimitedKey,
  "createTenant 409": (stage, described, good) =>
    ask(stage, described, { json: { ...good.json, name: stage.one.name.toUpperCase() } }),
  "createTenant 422": async (stage, described, good) => {
    const unmet = await guarded(stage, { has: () => false }, (api) => ask({ ...stage, api }, described, good));
    expect(unmet.status, unmet.text).to.equal(422);
    return guarded(stage, { has: () => true }, (api) => ask({ ...stage, api }, described, good));
  },
  "createTenant 429": (_stage, described, good) => throttled(described, good),
  "updateTenant 409": (stage, described, good) => ask(stage, described, { ...good, json: { name: stage.other.name } }),
  "regenerateWebhookSecret 422": async (stage, described, good) => {
    const { tenantId, owner } = await createTenant(stage.api.url);
    for (let count = 1; count < mostSecrets; count += 1) {
      await owner.client.api.regenerateWebhookSecret({ id: tenantId }, { gracePeriodSeconds: 60 });
    }
    return ask(stage, described, { ...good, params: { id: tenantId }, as: owner.client });
  },
  "replaceSigningSecret 422": async (stage, described, good) => {
    for (let count = 1; count < mostSecrets; count += 1) await ask(stage, described, good);
    return ask(stage, described, good);
  },

  "getRoot 302": (_stage, described, good) =>
    onStage({ pages: "." }, (stage) => ask(stage, described, good, { headers: { accept: "text/html" } })),

  "login 401": (stage, described, good) => ask(stage, described, withWrongPassword(good)),
  "login 429": (_stage, described, good) => throttled(described, withWrongPassword(good)),
  "openSession 401": (stage, described, good) => ask(stage, described, withWrongPassword(good)),
  "openSession 429": (_stage, described, good) => throttled(described, withWrongPassword(good)),
  "changePassword 429": (_stage, described, good) =>
    throttled(described, { json: { ...good.json, currentPassword: "another password" } }),

  "createUser 409": (stage, described) =>
    ask(stage, described, { json: { email: stage.other.owner.email, password } }),
  "updateUser 409": (stage, described, good) =>
    ask(stage, described, { ...good, json: { email: stage.other.owner.email } }),
  "updateUser 422": (stage, described) =>
    ask(stage, described, { params: { id: stage.one.owner.id }, json: { role: 0 } }),
  "deleteUser 422": (stage, described) => ask(stage, described, { params: { id: stage.one.owner.id } }),

  "createInvite 409": (stage, described) =>
    ask(stage, described, { json: { email: stage.other.owner.email, role: 0 } }),
  "revokeInvite 409": async (stage, described) => {
    const { id, inviteToken } = await freshInvite(stage);
    await http("POST", `${stage.api.url}/api/v1/invites/${inviteToken}/register`, { json: { password } });
    return ask(stage, described, { params: { id } });
  },
  "register 404": (stage, described, good) => ask(stage, described, { ...good, params: { token: "inv_none" } }),
  "register 409": async (stage, described, good) => {
    await ask(stage, described, good);
    return ask(stage, described, good);
  },
  "register 422": (_stage, described) =>
    onStage({}, async (stage) => {
      const { inviteToken: token } = await freshInvite(stage);
      stage.engines.clock.advance(8 * dayMs);
      return ask(stage, described, { params: { token }, json: { password } });
    }),
  "register 429": (_stage, described, good) => throttled(described, good),

  "createView 422": async (stage, described, good) => {
    const { client } = await createUser(stage.one.owner.client, "viewer");
    for (let count = 0; count < mostViews; count += 1) {
      await client.api.createView({ name: "Given up", page: "events", query: "" });
    }
    return ask(stage, described, { ...good, as: client });
  },
  "createNotificationSubscription 404": (stage, described, good) =>
    ask(stage, described, { json: { ...good.json, destinationUrlId: nowhere } }),
  "createNotificationSubscription 422": (_stage, described) =>
    onStage({}, async (stage) => {
      const { destinationId: destinationUrlId } = stage.ingest;
      const json = { destinationUrlId, types: ["event.exhausted"] };
      for (let count = 0; count < mostSubscriptions; count += 1) await ask(stage, described, { json });
      return ask(stage, described, { json });
    }),
  "createDestination 422": async (stage, described, good) => {
    await registerMany(stage, { ownerId: "many" }, mostNamed);
    const { visitor } = await openPortal(stage.one, { ownerId: "many", may: ["configure"] });
    return ask(stage, described, good, { by: null, headers: visitor.headers });
  },
  "openPortalSession 401": (stage, described) => ask(stage, described, { json: { code: "prt_none" } }),
  "createServiceKey 422": withMostKeys,
  "rotateServiceKey 422": withMostKeys,

  "createSender 404": (stage, described) =>
    ask(stage, described, { json: { name: "Shop", destinationUrlId: nowhere } }),

  "createSubscription 404": (stage, described, good) =>
    ask(stage, described, { json: { ...good.json, destinationUrlId: nowhere } }),
  "createSubscription 409": async (stage, described, good) => {
    await ask(stage, described, good);
    return ask(stage, described, good);
  },
  "createSubscription 422": withDirectSender,
  "testSubscriptions 404": (stage, described, good) =>
    ask(stage, described, { json: { ...good.json, senderId: nowhere } }),
  "testSubscriptions 422": withDirectSender,
  "previewMapping 404": (stage, described, good) =>
    ask(stage, described, { json: { ...good.json, senderId: nowhere } }),

  "tryMapping 500": defect(withoutState),
  "tryMapping 503": (stage, described, good) =>
    withoutState(stage, new ExpiringStateUnavailable("away"), () => ask(stage, described, good)),

  "listRefusals 500": defect(withoutState),
  "listRefusals 503": (stage, described, good) =>
    withoutState(stage, new ExpiringStateUnavailable("away"), () => ask(stage, described, good)),

  "ingest 200": async (stage, described, good) => {
    const keyed = { ...good, headers: { "x-idempotency-key": "order-1" } };
    await ask(stage, described, keyed);
    return ask(stage, described, keyed);
  },
  "ingest 403": (stage, described, good) =>
    ask(stage, described, { ...good, params: { ...good.params, tenantId: stage.other.tenantId } }),
  "ingest 404": (stage, described, good) =>
    ask(stage, described, { ...good, params: { ...good.params, token: "dst_none" } }),
  "ingest 409": async (stage, described, good) => {
    const { events } = await new PlatformKeys(stage.api.world).get();
    const now = stage.engines.clock.now();
    const collided = eventIdOf(now, events.of(stage.one.tenantId, "order-2"));
    await acceptEvent(stage.engines.store, timestamp(now), collided);
    return ask(stage, described, { ...good, headers: { "x-idempotency-key": "order-2" } });
  },
  "ingest 422": async (stage, described, good) => {
    const { destinationId, ingestToken: token } = await openIngest(stage.one.owner.client, stage.one.tenantId);
    await stage.one.owner.client.patch(`/api/v1/destinations/${destinationId}`, { status: "inactive" });
    return ask(stage, described, { ...good, params: { ...good.params, token } });
  },

  "updateDestination 422": async (stage, described) => {
    await acceptedEvent(stage);
    return ask(stage, described, { params: { id: stage.ingest.destinationId }, json: { ordering: "destination" } });
  },

  "replayEvent 400": async (stage, described) =>
    ask(stage, described, { params: { id: await acceptedEvent(stage) } }),
  "replayEvent 422": askOfDeleted,
  "resendEvent 400": async (stage, described) =>
    ask(stage, described, { params: { id: await acceptedEvent(stage) } }),
  "resendEvent 422": askOfDeleted,
  "retryEvent 400": async (stage, described) =>
    ask(stage, described, { params: { id: await acceptedEvent(stage) } }),
  "orderReplay 200": (stage, described) => ask(stage, described, { json: { dryRun: true } }),
  "orderReplay 404": (stage, described) => ask(stage, described, { json: { toDestinationUrlId: nowhere } }),
  "cancelReplay 400": async (stage, described, good) => {
    await ask(stage, described, good);
    return ask(stage, described, good);
  },
  "cancelEvent 400": async (stage, described) => {
    const id = await acceptedEvent(stage);
    await new Deliveries(stage.api.world).succeed(id);
    return ask(stage, described, { params: { id } });
  },

  "purgeEvents 200": (stage, described) => ask(stage, described, { json: { dryRun: true } }),

  "followStream 429": async (stage, described, good) => {
    const { api: { url }, one: { owner: { client } } } = stage;
    const services = await Promise.all(Array.from({ length: 20 }, () => createService(client, "viewer")));
    const opened = await Promise.all(services.flatMap(({ client: { token } }) =>
      Array.from({ length: 5 }, () => EventStream.open(`${url}/api/v1/stream`, { authorization: `Bearer ${token}` }))));
    const answer = await ask(stage, described, good);
    await Promise.all(opened.map((stream) => stream.close()));
    return answer;
  },
  "testDestination 429": async (stage, described, good) => {
    for (let sent = 0; sent < 10; sent++) await ask(stage, described, good);
    return ask(stage, described, good);
  },

  "getReadiness 503": (_stage, described) =>
    onStage({ unreadyBecause: "no answer from MongoDB" }, (stage) => ask(stage, described, {})),
};

/** Asks about an event that was given up, and whose destination was deleted. */
async function askOfDeleted(stage: Stage, described: Described): Promise<HttpAnswer> {
  const ingest = await openIngest(stage.one.owner.client, stage.one.tenantId);
  const id = await givenUpEvent(stage, ingest);
  await stage.one.owner.client.delete(`/api/v1/destinations/${ingest.destinationId}`);
  return ask(stage, described, { params: { id } });
}

/** Calls a process of the cloud offering in which every challenge fails. */
async function guarded(
  { engines }: Stage,
  disposable: DisposableDomains,
  act: (api: TestApi) => Promise<HttpAnswer>,
): Promise<HttpAnswer> {
  const outbound = { post: async () => expect.fail("nobody is to be asked about no token") };
  const parts = {
    outbound, state: engines.state, disposable, clock: new ManualClock(), logger: quiet, metrics: uncounted,
  };
  const settings = { verifyUrl: "https://challenges.example", secret: "a secret", userAgent: "test" };
  const api = await startApi(engines, { guards: new CloudRegistrationGuards(parts, settings) });
  try {
    return await act(api);
  } finally {
    await api.close();
  }
}

function withWrongPassword(good: GoodRequest): GoodRequest {
  return { json: { ...good.json, password: "another password" } };
}

/** The answer to a second request where the limit is one. */
function throttled(described: Described, good: GoodRequest): Promise<HttpAnswer> {
  const limit = { max: 1, windowMs: dayMs };
  const limits = { loginFailures: limit, tenantCreation: limit, inviteRegistration: limit };
  return onStage({}, async (stage) => {
    const api = await startApi(stage.engines, { limits });
    try {
      await ask({ ...stage, api }, described, good);
      return await ask({ ...stage, api }, described, good);
    } finally {
      await api.close();
    }
  });
}

/** The request about a sender that has one destination. */
async function withDirectSender(stage: Stage, described: Described, good: GoodRequest): Promise<HttpAnswer> {
  const { one: { owner: { client } }, ingest: { destinationId: destinationUrlId } } = stage;
  const { id: senderId } = await client.api.createSender({ name: "Shop", destinationUrlId });
  return ask(stage, described, { json: { ...good.json, senderId } });
}

function withoutLog<T>({ engines: { store } }: Stage, error: Error, act: () => Promise<T>): Promise<T> {
  return withBroken(store, ["append", "readStream", "head"], error, act);
}

function withoutState<T>({ engines: { state } }: Stage, error: Error, act: () => Promise<T>): Promise<T> {
  return withBroken(state, ["get"], error, act);
}

async function withBroken<Engine extends object, T>(
  engine: Engine, methods: readonly (keyof Engine)[], error: Error, act: () => Promise<T>,
): Promise<T> {
  const broken = async () => {
    throw error;
  };
  for (const method of methods) Object.assign(engine, { [method]: broken });
  try {
    return await act();
  } finally {
    // Deleting the overrides uncovers the methods of the class.
    for (const method of methods) Reflect.deleteProperty(engine, method);
  }
}

async function openStage(options: Parameters<typeof startApi>[1]): Promise<Stage> {
  const engines = await inMemoryEngines();
  const api = await startApi(engines, { maxBodyBytes, ...options });
  const [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
  return { engines, clock: engines.clock, api, one, other, ingest: await openIngest(one.owner.client, one.tenantId) };
}

async function closeStage({ api, engines }: Stage): Promise<void> {
  await api.close();
  await engines.close();
}

/** Runs `act` on a stage of its own. */
async function onStage<T>(options: Parameters<typeof startApi>[1], act: (stage: Stage) => Promise<T>): Promise<T> {
  const stage = await openStage(options);
  try {
    return await act(stage);
  } finally {
    await closeStage(stage);
  }
}

describe("every answer in the OpenAPI document", () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage({});
  });
  after(() => closeStage(stage));
  afterEach(() => expect(stage.api.errors).to.deep.equal([]));

  for (const { status, ...described } of documented) {
    const name = nameOf(described, status);
    if (name in unreachable) continue;
    it(`${name} can be provoked`, async () => {
      const { operationId } = described.operation;
      const make = goodRequests[operationId] ?? expect.fail(`${operationId} has none in test/support/good-requests.ts`);
      const provoke = stories[name] ?? (status < 300 ? ask : anywhere[status]) ?? expect.fail(`${name} has no story`);
      const answer = await provoke(stage, described, await make(stage));
      expect(answer.status, answer.text).to.equal(status);
    });
  }

  it("has a case here, and no other answer has", () => {
    const names = documented.map(({ status, ...described }) => nameOf(described, status));
    expect(names).to.include.members([...Object.keys(stories), ...Object.keys(unreachable)]);
    expect(operations.map(({ operation }) => operation.operationId)).to.have.members(Object.keys(goodRequests));
  });
});
