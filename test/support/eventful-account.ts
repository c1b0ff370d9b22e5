import { expect } from "chai";
import { freshEmail, openAccount, openIngest, roleCodes, type Account } from "./accounts.ts";
import type { TestApi } from "./api.ts";
import { attemptEnded, tellCircuit } from "./circuits.ts";
import { http } from "./http.ts";
import { Deliveries } from "./outcomes.ts";

/** An account whose lists and histories have several items each, another account, and ids of the first. */
export interface EventfulAccount {
  readonly one: Account;
  readonly other: Account;
  readonly ids: Readonly<Record<"apiKey" | "destination" | "sender" | "event" | "invite", string>>;
}

/** Makes the two accounts. */
export async function eventfulAccount(api: TestApi): Promise<EventfulAccount> {
  const [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
  const { client } = one.owner;
  const made = { sender: "", invite: "" };
  const targets = [];
  for (let n = 0; n < 3; n += 1) targets.push(await openIngest(client, one.tenantId));
  const [to = expect.fail()] = targets;
  for (const name of ["Till", "Shop", "Till", "Bank"]) {
    made.sender = (await client.api.createSender({ name, destinationUrlId: to.destinationId })).id;
  }
  for (const role of [roleCodes.viewer, roleCodes.developer, roleCodes.viewer]) {
    made.invite = (await client.api.createInvite({ email: freshEmail(), role })).id;
  }
  await client.delete(`/api/v1/invites/${made.invite}`);
  await client.api.createApiKey({ name: "producer", expiresAt: "2100-01-01" });
  const eventIds: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    const at = targets[n % 3] ?? expect.fail();
    const answer = await http("POST", api.url + at.path, { json: { n }, headers: { "x-api-key": at.apiKey } });
    eventIds.push(String(answer.json["eventId"]));
  }
  for (const key of ["", "x".repeat(256), "\x80"]) {
    const headers = { "x-api-key": to.apiKey, "x-idempotency-key": key };
    await http("POST", api.url + to.path, { json: {}, headers });
  }
  await http("POST", api.url + to.path, { json: {} });
  const ids = { ...made, apiKey: to.apiKeyId, destination: to.destinationId, event: String(eventIds[0]) };
  const deliveries = new Deliveries(api.world);
  for (let n = 0; n < 4; n += 1) await deliveries.fail(ids.event, 9, 0);
  for (const serverRateLimit of [7, 8, 9, 10]) {
    await client.api.updateDestination({ id: ids.destination }, { serverRateLimit });
  }
  for (const name of ["a", "b", "c"]) await client.api.updateSender({ id: ids.sender }, { name });
  const place = { destinationId: ids.destination, tenantId: one.tenantId };
  for (let n = 0; n < 2; n += 1) {
    await tellCircuit(api.world, place, attemptEnded(ids.event, false));
    await client.api.updateDestination({ id: ids.destination }, { status: "active" });
  }
  await deliveries.fail(ids.event, 1, 0);
  await client.post("/api/v1/events/replay", {});
  await client.post("/api/v1/events/purge", { status: "Cancelled" });
  await client.post("/api/v1/events/purge", { status: "Succeeded" });
  return { one, other, ids };
}
