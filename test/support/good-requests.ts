import type { Clock } from "../../src/kernel/ports/clock.ts";
import {
  Client, createUser, freshEmail, login, openIngest, password, roleCodes, signIn, unique, type Account,
} from "./accounts.ts";
import type { TestApi } from "./api.ts";
import { relayClient } from "./api-client.ts";
import { attemptEnded, tellCircuit } from "./circuits.ts";
import { http } from "./http.ts";
import { Deliveries } from "./outcomes.ts";
import { codeOf, openPortal } from "./portal.ts";

/** The setting of requests: two tenants with users of every role, and a path and a key for events of the first one. */
export interface Scene {
  readonly api: TestApi;
  readonly clock: Clock;
  readonly one: Account;
  readonly other: Account;
  readonly ingest: Awaited<ReturnType<typeof openIngest>>;
}

/** A request with which an operation succeeds. */
export interface GoodRequest {
  /** Values of the path's parameters. */
  readonly params?: Readonly<Record<string, string>>;
  /** The query, with its question mark, where parameters are required; by name they are in `params`, too. */
  readonly query?: string;
  readonly json?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The caller where a session is needed; the first tenant's Owner by default. */
  readonly as?: Client;
}

type Make = (scene: Scene) => GoodRequest | Promise<GoodRequest>;

const url = "https://receiver.example/hook";
/** An event's id that no event has. */
const unheld = "0193a1b2-0000-7000-8000-00000000eeee";

/** An event of the first tenant, as it was accepted. */
export async function acceptedEvent({ api, one, ingest }: Scene, to = ingest): Promise<string> {
  const producer = relayClient(api.url, { apiKey: to.apiKey });
  return (await producer.ingest({ tenantId: one.tenantId, token: to.ingestToken }, {})).eventId;
}

/** An event that was given up. */
export async function givenUpEvent(scene: Scene, to = scene.ingest): Promise<string> {
  const id = await acceptedEvent(scene, to);
  await new Deliveries(scene.api.world).fail(id, 1);
  return id;
}

/** An event that waits for its first retry. */
async function retriedEvent(scene: Scene): Promise<string> {
  const id = await acceptedEvent(scene);
  await new Deliveries(scene.api.world).fail(id, 2);
  return id;
}

/** An invite to the first tenant. */
export async function freshInvite({ one }: Scene): Promise<{ readonly id: string; readonly inviteToken: string }> {
  return one.owner.client.api.createInvite({ email: freshEmail(), role: roleCodes.developer });
}

const ownTenant: Make = ({ one }) => ({ params: { id: one.tenantId } });
const ownDestination: Make = ({ ingest }) => ({ params: { id: ingest.destinationId } });
const newDestination: Make = async ({ one }) => idOf(one.owner.client.api.createDestination({ url }));
/** A destination with a secret and a key of its own. */
const signedDestination: Make = async (scene) => {
  const made = await newDestination(scene);
  const { api } = scene.one.owner.client;
  const id = { id: made.params?.["id"] ?? "" };
  await api.replaceSigningSecret(id);
  await api.replaceSigningKey(id);
  return made;
};
const newSender: Make = async ({ one, ingest }) => idOf(one.owner.client.api.createSender(senderOf(ingest)));
const newFanOutSender = async ({ one }: Scene) =>
  (await one.owner.client.api.createSender({ name: "Billing", fanOut: true })).id;
/** A sender that fans out, and a destination that has no subscription to it. */
const unsubscribed = async (scene: Scene) => {
  const { id: destinationUrlId } = await scene.one.owner.client.api.createDestination({ url });
  return { senderId: await newFanOutSender(scene), destinationUrlId, ownerId: "customer-42" };
};
const newSubscription: Make = async (scene) =>
  idOf(scene.one.owner.client.api.createSubscription(await unsubscribed(scene)));
/** A message to one destination. */
const newMessage: Make = async (scene) => {
  const { api, one, ingest } = scene;
  const { senderId, destinationUrlId } = await unsubscribed(scene);
  await one.owner.client.api.createSubscription({ senderId, destinationUrlId });
  const { ingestToken } = await one.owner.client.api.regenerateSenderToken({ id: senderId });
  const path = `/api/v1/ingest/${one.tenantId}/${ingestToken}`;
  const answer = await http("POST", api.url + path, { json: {}, headers: { "x-api-key": ingest.apiKey } });
  return { params: { id: String(answer.json["eventId"]) } };
};
const newReplay: Make = async ({ one }) => idOf(one.owner.client.api.orderReplay({}) as Promise<{ id: string }>);
const newIncident: Make = async (scene) => {
  const { api, one: { owner: { client }, tenantId } } = scene;
  const to = await openIngest(client, tenantId);
  const eventId = await acceptedEvent(scene, to);
  const deliveries = new Deliveries(api.world);
  for (let attempt = 0; attempt < 3; attempt += 1) await deliveries.fail(eventId, 5, 0);
  const { items: [incident] } = await client.api.listIncidents({ DestinationUrlId: to.destinationId });
  return { params: { id: incident!.id } };
};
const newApiKey: Make = async ({ one }) => idOf(one.owner.client.api.createApiKey({ name: "key" }));
const newNotificationSubscription: Make = async ({ one, ingest }) => idOf(
  one.owner.client.api.createNotificationSubscription({
    destinationUrlId: ingest.destinationId, types: ["destination.suspended"],
  }));
const readingLink = { ownerId: "customer-42", may: ["read" as const] };
const inPortal: Make = async ({ one }) => {
  const { visitor } = await openPortal(one, readingLink);
  return { as: new Client(visitor.url), headers: visitor.headers };
};
const newView: Make = async ({ one }) =>
  idOf(one.owner.client.api.createView({ name: "Given up", page: "events", query: "" }));
const newServiceAccount = async ({ one }: Scene) => {
  return idOf(one.owner.client.api.createServiceAccount({ name: "machine", role: roleCodes.developer }));
};
const newServiceKey = async (scene: Scene) => {
  const { params: { id } } = await newServiceAccount(scene);
  return { params: { id, keyId: (await scene.one.owner.client.api.createServiceKey({ id }, { name: "key" })).id } };
};
const senderOf = ({ destinationId }: Scene["ingest"]) => ({ name: "Shop", destinationUrlId: destinationId });

/** Parameters that name the created thing. */
async function idOf(created: Promise<{ readonly id: string }>) {
  return { params: { id: (await created).id } };
}

/** For every operation, by its id in the document, a request that succeeds. */
export const goodRequests: Readonly<Record<string, Make>> = {
  createTenant: () => ({ json: { name: unique("Tenant"), ownerEmail: freshEmail(), ownerPassword: password } }),
  getTenant: ownTenant,
  listTenantHistory: ownTenant,
  listPurgeHistory: async (scene) => {
    await scene.one.owner.client.api.purgeEvents({ before: "2020-01-01" });
    return ownTenant(scene);
  },
  listReplayHistory: async (scene) => {
    await givenUpEvent(scene);
    await scene.one.owner.client.api.replayEvents({});
    return ownTenant(scene);
  },
  listCancellationHistory: async (scene) => {
    await acceptedEvent(scene);
    await scene.one.owner.client.api.cancelEvents({});
    return ownTenant(scene);
  },
  updateTenant: async (scene) => ({ ...(await ownTenant(scene)), json: { maxTrys: 7 } }),
  getWebhookSecret: ownTenant,
  regenerateWebhookSecret: async (scene) => ({ ...(await ownTenant(scene)), json: { gracePeriodSeconds: 60 } }),
  expireWebhookSecrets: ownTenant,
  verifySignature: async (scene) => ({ ...(await ownTenant(scene)), json: { payload: "{}", signature: "sha256=00" } }),

  createView: () => ({ json: { name: "Given up", page: "events", query: "Status=CriticalFailure" } }),
  listViews: () => ({}),
  updateView: async (scene) => ({ ...(await newView(scene)), json: { name: "Waiting" } }),
  deleteView: newView,

  createNotificationSubscription: ({ ingest }) => ({
    json: { destinationUrlId: ingest.destinationId, types: ["event.exhausted"] },
  }),
  listNotificationSubscriptions: () => ({}),
  deleteNotificationSubscription: newNotificationSubscription,

  createPortalLink: () => ({ json: readingLink }),
  listPortalLinks: () => ({}),
  deletePortalLink: async ({ one }) => idOf(one.owner.client.api.createPortalLink(readingLink)),
  openPortalSession: async ({ one }) => ({
    json: { code: codeOf(await one.owner.client.api.createPortalLink(readingLink)) },
  }),
  getPortalSession: inPortal,
  endPortalSession: inPortal,

  listAudit: () => ({}),

  login: ({ one }) => ({ json: { email: one.owner.email, password } }),
  logout: async ({ api, one }) => ({ as: await login(api.url, one.owner.email) }),
  openSession: ({ one }) => ({ json: { email: one.owner.email, password } }),
  renewSession: async ({ api, one }) => ({
    as: new Client(api.url), headers: await signIn(api.url, one.owner.email),
  }),
  endSession: async ({ api, one }) => ({ as: await login(api.url, one.owner.email) }),
  changePassword: async ({ one }) => ({
    as: (await createUser(one.owner.client, "viewer")).client,
    json: { currentPassword: password, newPassword: password },
  }),
  getMe: () => ({}),

  createUser: () => ({ json: { email: freshEmail(), password } }),
  listUsers: () => ({}),
  getUser: ({ one }) => ({ params: { id: one.viewer.id } }),
  updateUser: ({ one }) => ({ params: { id: one.viewer.id }, json: { email: freshEmail() } }),
  deleteUser: async ({ one }) => ({ params: { id: (await createUser(one.owner.client, "viewer")).id } }),

  createInvite: () => ({ json: { email: freshEmail(), role: roleCodes.developer } }),
  listInvites: () => ({}),
  listInviteHistory: async (scene) => ({ params: { id: (await freshInvite(scene)).id } }),
  revokeInvite: async (scene) => ({ params: { id: (await freshInvite(scene)).id } }),
  register: async (scene) => ({ params: { token: (await freshInvite(scene)).inviteToken }, json: { password } }),

  createApiKey: () => ({ json: { name: "key" } }),
  listApiKeys: () => ({}),
  listApiKeyHistory: newApiKey,
  rotateApiKey: async (scene) => ({ ...(await newApiKey(scene)), json: { overlapSeconds: 60 } }),
  deleteApiKey: newApiKey,

  createServiceAccount: () => ({ json: { name: "machine", role: roleCodes.developer } }),
  listServiceAccounts: () => ({}),
  getServiceAccount: newServiceAccount,
  listServiceAccountHistory: newServiceAccount,
  updateServiceAccount: async (scene) => ({ ...(await newServiceAccount(scene)), json: { name: "robot" } }),
  deleteServiceAccount: newServiceAccount,
  createServiceKey: async (scene) => ({ ...(await newServiceAccount(scene)), json: { name: "key" } }),
  listServiceKeys: newServiceKey,
  rotateServiceKey: async (scene) => ({ ...(await newServiceKey(scene)), json: { overlapSeconds: 60 } }),
  deleteServiceKey: newServiceKey,

  createDestination: () => ({ json: { url } }),
  listDestinations: () => ({}),
  getDestination: ownDestination,
  listDestinationHistory: ownDestination,
  listCircuitHistory: async ({ api, one }) => {
    const { id } = await one.owner.client.api.createDestination({ url });
    await tellCircuit(api.world, { destinationId: id, tenantId: one.tenantId }, attemptEnded(unheld, false));
    return { params: { id } };
  },
  updateDestination: async (scene) => ({ ...(await ownDestination(scene)), json: { serverRateLimit: 9 } }),
  deleteDestination: newDestination,
  regenerateDestinationToken: newDestination,
  getSigningSecret: signedDestination,
  replaceSigningSecret: async (scene) => ({ ...(await newDestination(scene)), json: { gracePeriodSeconds: 60 } }),
  expireSigningSecrets: signedDestination,
  removeSigningSecret: signedDestination,
  replaceSigningKey: newDestination,
  removeSigningKey: signedDestination,
  listSigningKeys: ownTenant,

  createSender: ({ ingest }) => ({ json: senderOf(ingest) }),
  testDestination: async (scene) => ({ ...(await newDestination(scene)), json: {} }),

  listSenders: () => ({}),
  getSender: newSender,
  listSenderHistory: newSender,
  updateSender: async (scene) => ({ ...(await newSender(scene)), json: { name: "Stall" } }),
  deleteSender: newSender,
  regenerateSenderToken: newSender,
  testMapping: async (scene) => ({ ...(await newSender(scene)), json: { payload: {} } }),
  tryMapping: () => ({ json: { mapping: { language: "jmespath", expression: "{order: id}" }, payload: {} } }),
  previewMapping: async (scene) => {
    const { params } = await newSender(scene);
    return { json: { senderId: params?.["id"], mapping: { language: "jmespath", expression: "@" }, last: 9 } };
  },

  createSubscription: async (scene) => ({ json: await unsubscribed(scene) }),
  listSubscriptions: () => ({}),
  testSubscriptions: async (scene) => ({ json: { senderId: await newFanOutSender(scene), payload: {} } }),
  getSubscription: newSubscription,
  listSubscriptionHistory: newSubscription,
  updateSubscription: async (scene) => ({ ...(await newSubscription(scene)), json: { eventTypes: ["invoice.*"] } }),
  deleteSubscription: newSubscription,

  ingest: ({ one, ingest }) => ({ params: { tenantId: one.tenantId, token: ingest.ingestToken }, json: {} }),

  listRefusals: () => ({}),
  getStatistics: () => ({}),
  listEvents: () => ({}),
  countEvents: () => ({}),
  lookup: () => ({ query: "?Q=a", params: { Q: "a" } }),
  searchEvents: () => ({ query: "?Text=a", params: { Text: "a" } }),
  exportEvents: () => ({}),
  followStream: () => ({}),
  getEvent: async (scene) => ({ params: { id: await acceptedEvent(scene) } }),
  listAttempts: async (scene) => ({ params: { id: await givenUpEvent(scene) } }),
  getEventStory: async (scene) => ({ params: { id: await givenUpEvent(scene) } }),
  listEventHistory: async (scene) => ({ params: { id: await givenUpEvent(scene) } }),
  replayEvent: async (scene) => ({ params: { id: await givenUpEvent(scene) } }),
  resendEvent: async (scene) => ({ params: { id: await givenUpEvent(scene) } }),
  retryEvent: async (scene) => ({ params: { id: await retriedEvent(scene) } }),
  replayEvents: async (scene) => {
    await givenUpEvent(scene);
    return { json: {} };
  },
  cancelEvents: async (scene) => {
    await acceptedEvent(scene);
    return { json: {} };
  },
  purgeEvents: async (scene) => {
    await givenUpEvent(scene);
    return { json: { before: "2020-01-01" } };
  },
  orderReplay: async (scene) => {
    await givenUpEvent(scene);
    return { json: {} };
  },
  listIncidents: () => ({}),
  getIncident: newIncident,
  listMessages: () => ({}),
  getMessage: newMessage,

  listReplays: () => ({}),
  getReplay: newReplay,
  cancelReplay: newReplay,
  cancelEvent: async (scene) => ({ params: { id: await acceptedEvent(scene) } }),

  getHealth: () => ({}),
  getReadiness: () => ({}),
  getMetrics: () => ({}),
  getOpenapiDocument: () => ({}),
  getDocs: () => ({}),
  getRoot: () => ({}),
};
