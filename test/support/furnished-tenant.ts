import { setTimeout as pause } from "node:timers/promises";
import { createClient, Producer, type RelayClient, type Schemas } from "../../packages/client/src/index.ts";
import type { Reply, Script } from "./receiver.ts";

/** A tenant with something on every page: people, keys, destinations in each state, and events with each fate. */
export interface Furnished {
  readonly tenantId: string;
  readonly email: string;
  readonly password: string;
  readonly owner: RelayClient;
  /** The flaky destination. */
  readonly destinationId: string;
  readonly senderId: string;
  readonly fanOutSenderId: string;
  /** A message that one receiver got, the flaky one at its second attempt, and one did not. */
  readonly messageId: string;
  /** The open incident of the dead destination. */
  readonly incidentId: string;
  /** Posts one more event, to the healthy destination or, every fifth, to the flaky one. */
  readonly postMore: (order: number) => Promise<void>;
  /** Events by their outcome. */
  readonly events: Readonly<Record<"delivered" | "retried" | "failed" | "held" | "cancelled", string>>;
}

/** Settings of the tenant. */
export interface Furnishing {
  readonly ownerEmail?: string;
  /** How long the dead destination stays suspended, seconds. */
  readonly circuitBreakerTimer?: number;
  /** Events for the healthy destination. */
  readonly events?: number;
  /** Posts earlier events, to the healthy destination or the flaky one. */
  readonly earlier?: (owner: RelayClient, post: (order: number, flaky: boolean) => Promise<void>) => Promise<void>;
}

const password = "correct horse battery";
/** Codes of roles in requests. */
const roles = { developer: 0, admin: 1, viewer: 20 } as const;
const patienceMs = 30_000;

/** Answers of the tenant's receiver: `/orders` takes all, `/flaky` every event at its second attempt, `/dead` none. */
export function furnishedReceiver(): Script {
  return ({ path, headers }): Reply => {
    if (path === "/dead") return { status: 500, body: "<html><body>Internal Server Error</body></html>" };
    if (path === "/flaky" && headers["x-relay-attempt"] === "1") return { status: 503, body: "not now" };
    return { status: 200, body: "thank you" };
  };
}

let tenants = 0;

/** Makes the tenant by the API; its receiver, at `receiverUrl`, answers as {@link furnishedReceiver} says. */
export async function furnish(
  url: string, receiverUrl: string, { ownerEmail, circuitBreakerTimer = 600, events = 24, earlier }: Furnishing = {},
): Promise<Furnished> {
  tenants += 1;
  const email = ownerEmail ?? `ada-${tenants}-${process.pid}@acme.example`;
  const name = ownerEmail === undefined ? `Acme ${tenants} ${process.pid}` : "Acme Shop";
  const anyone = createClient({ url });
  const { tenantId } =
    await anyone.createTenant({ name, ownerEmail: email, ownerPassword: password, maxTrys: 3, circuitBreakerTimer });
  const { accessToken } = await anyone.login({ email, password });
  const owner = createClient({ url, token: accessToken });
  await people(owner, email);
  const { apiKey } = await owner.createApiKey({ name: "shop backend" });
  const at = (path: string) => owner.createDestination({ url: `${receiverUrl}${path}` });
  const [orders, flaky, dead, off] = [await at("/orders"), await at("/flaky"), await at("/dead"), await at("/old")];
  const sender = await owner.createSender({
    name: "Shop", destinationUrlId: orders.id,
    mapping: { language: "jmespath", expression: "{order: data.order, total: data.amount}" },
    searchFields: [{ name: "order", path: "/order" }],
  });
  await owner.updateDestination({ id: orders.id }, { serverRateLimit: 20 });
  const to = ({ ingestToken }: { readonly ingestToken: string }) =>
    new Producer({ url, apiKey, tenantId, ingestToken });
  const post = async (producer: Producer, order: number, type = "order.paid") => {
    const customer = { name: `Customer ${order}`, vip: order % 3 === 0 };
    const payload = { type, order, amount: 19.9 + order, customer };
    return (await producer.post(payload, { idempotencyKey: `${type}-${order}`, eventType: type })).eventId;
  };
  const postTo = async (order: number, isFlaky: boolean) => {
    await post(to(isFlaky ? flaky : orders), order, order % 4 === 0 ? "order.shipped" : "order.paid");
  };
  await earlier?.(owner, postTo);
  const delivered = await post(to(orders), 1);
  for (let order = 2; order <= events; order += 1) await postTo(order, false);
  await post(to({ ingestToken: sender.ingestToken }), 4711);
  const retried = await post(to(flaky), 5001);
  await reached(owner, retried, "Succeeded");
  const failed = await post(to(dead), 6001);
  await reached(owner, failed, "CriticalFailure");
  const { items: [incident] } = await owner.listIncidents({ State: "open", DestinationUrlId: dead.id });
  const held = (await owner.replayEvent({ id: failed })).id;
  const cancelled = await post(to(off), 7001, "order.cancelled");
  await reached(owner, cancelled, "Succeeded");
  await owner.updateDestination({ id: off.id }, { status: "inactive" });
  await owner.orderReplay({ ids: [delivered], status: "Succeeded", toDestinationUrlId: orders.id });
  await owner.replaceSigningSecret({ id: flaky.id }, { gracePeriodSeconds: 86_400 });
  await owner.replaceSigningKey({ id: flaky.id });
  await owner.updateDestination({ id: flaky.id }, { headers: { "X-Region": "eu" }, ratePerSecond: 50 });
  const fanOut = await owner.createSender({ name: "Billing", fanOut: true, eventTypePath: "/type" });
  const subscription = { senderId: fanOut.id, destinationUrlId: orders.id };
  const filter = { data: { amount: { $gte: 100 } } };
  await owner.createSubscription({ ...subscription, eventTypes: ["invoice.*"], filter });
  await owner.createSubscription({ ...subscription, destinationUrlId: flaky.id, ownerId: "customer-42" });
  await owner.createSubscription({ ...subscription, destinationUrlId: off.id, eventTypes: ["refund.*"] });
  const { eventId: messageId } =
    await to(fanOut).post({ type: "invoice.sent", order: 8001, amount: 120 }, { ownerId: "customer-42" });
  await finished(owner, messageId);
  // None of its destinations has a certificate, so no notification adds to its events.
  await owner.createNotificationSubscription({ destinationUrlId: orders.id, types: ["certificate.expiring"] });
  return {
    tenantId, email, password, owner, destinationId: flaky.id, senderId: sender.id, fanOutSenderId: fanOut.id,
    messageId, incidentId: incident!.id,
    postMore: (order) => postTo(order, order % 5 === 0),
    events: { delivered, retried, failed, held, cancelled },
  };
}

async function people(owner: RelayClient, ownerEmail: string): Promise<void> {
  const host = `${ownerEmail.split("@")[0]}.example`;
  await owner.createUser({ email: `grace@${host}`, password, role: roles.admin });
  await owner.createUser({ email: `linus@${host}`, password, role: roles.viewer });
  await owner.createInvite({ email: `new@${host}`, role: roles.viewer });
  const { id } = await owner.createServiceAccount({ name: "reconciliation", role: roles.developer });
  await owner.createServiceKey({ id }, { name: "nightly job", scopes: ["events:read"] });
}

async function finished(owner: RelayClient, messageId: string): Promise<void> {
  const { deliveries } = await owner.getMessage({ id: messageId });
  for (const { eventId } of deliveries) await reached(owner, eventId, "Succeeded");
}

async function reached(owner: RelayClient, id: string, status: Schemas["EventStatus"]): Promise<void> {
  const end = performance.now() + patienceMs;
  for (let last = ""; last !== status; last = (await owner.getEvent({ id })).status) {
    if (performance.now() > end) throw new Error(`event ${id} is ${last}, not ${status}`);
    await pause(20);
  }
}
