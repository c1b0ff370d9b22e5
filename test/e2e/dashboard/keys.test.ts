import { createHmac } from "node:crypto";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { createTenant, openAccount, password, unique, type Account } from "../../support/accounts.ts";
import { relayClient } from "../../support/api-client.ts";
import { countClicks } from "../../support/clicks.ts";
import { dashboardStage, signIn, type Visit } from "../../support/dashboard.ts";
import { http } from "../../support/http.ts";

describe("the dashboard's keys", () => {
  const stage = dashboardStage({ receiver: {} });
  let account: Account;
  let ingest: string;
  let seen: Visit;
  let page: Page;
  before(async () => {
    account = await openAccount(stage.relay.url);
    const url = `https://127.0.0.1:${stage.receiver.port}/hook`;
    const { ingestToken } = await account.owner.client.api.createDestination({ url });
    await account.owner.client.api.createApiKey({ name: "producer" });
    ingest = `${stage.relay.url}/api/v1/ingest/${account.tenantId}/${ingestToken}`;
    const at = stage.origin;
    await stage.browser.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: at });
  });
  beforeEach(async () => {
    seen = await stage.visit();
    ({ page } = seen);
    await seen.go("/keys");
    await signIn(seen, { email: account.owner.email, password });
  });

  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  const row = (name: string) => page.getByRole("row").filter({ hasText: name });
  /** The secret in the open dialog, which its button copies. */
  const secret = async () => {
    await press("Copy the secret");
    await page.getByRole("button", { name: "Copied" }).waitFor();
    return page.locator("dialog p:has(button) code").innerText();
  };
  const post = (apiKey: string) => http("POST", ingest, { json: {}, headers: { "x-api-key": apiKey } });

  it("creates an API key that is shown once, works at ingest, and stops when it is revoked", async () => {
    await press("Create API key…");
    await page.getByLabel("Name").fill("shop backend");
    await press("Create");
    await page.getByRole("dialog", { name: "The new API key" }).waitFor();
    const apiKey = await secret();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "The new API key" }).waitFor();
    expect((await post(apiKey)).status).to.equal(202);
    await press("I have stored it");
    expect(await page.content()).not.to.include(apiKey);
    await page.reload();
    await row("shop backend").locator("td").filter({ hasText: /^\d{4}-\d\d-\d\d \d\d:/ }).waitFor();
    expect(await page.content()).not.to.include(apiKey);
    await press("Revoke shop backend…");
    await page.getByText("It was used last").waitFor();
    await press("Revoke");
    await row("shop backend").waitFor({ state: "detached" });
    expect((await post(apiKey)).status).to.equal(401);
  });

  it("A key rotated without a refused post: 2", async () => {
    const till = unique("till");
    let { apiKey: inUse } = await account.owner.client.api.createApiKey({ name: till });
    const refused: number[] = [];
    const over = new AbortController();
    const producer = (async () => {
      while (!over.signal.aborted) {
        const { status } = await post(inUse);
        if (status !== 202) refused.push(status);
      }
    })();
    await page.reload();
    await row(till).waitFor();
    const clicks = await countClicks(page);
    await press(`Rotate ${till}…`);
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    await page.getByRole("dialog", { name: "The new API key" }).waitFor();
    expect(await clicks()).to.equal(2);
    inUse = await secret();
    await press("I have stored it");
    await row(till).nth(1).waitFor();
    over.abort();
    await producer;
    expect(refused).to.deep.equal([]);
    expect((await post(inUse)).status).to.equal(202);
  });

  it("ends a rotated key at once when no overlap is chosen", async () => {
    const name = unique("kiosk");
    const { apiKey } = await account.owner.client.api.createApiKey({ name });
    await page.reload();
    await press(`Rotate ${name}…`);
    await page.getByLabel("The old key works on for").selectOption("no time: it ends now");
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    const rotated = await secret();
    expect([(await post(apiKey)).status, (await post(rotated)).status]).to.deep.equal([401, 202]);
    await press("I have stored it");
    await row(name).getByText("expired").waitFor();
  });

  it("sends an expiry in the zone of the preferences, and says a refusal at its field", async () => {
    await press("Create API key…");
    await page.getByLabel("Name").fill("for a while");
    await page.getByLabel("Expires (optional)").fill("2020-01-01 10:00");
    await press("Create");
    expect(await page.getByRole("alert").textContent()).to.include("expiresAt");
    await page.getByLabel("Expires (optional)").fill("2999-01-01 10:00");
    await press("Create");
    await press("I have stored it");
    await row("for a while").getByText("2999-01-01 10:00:00.000").waitFor();
  });

  it("gives a service account a key with scopes, rotates it, and switches the account off", async () => {
    const api = (key: string) => relayClient(stage.relay.url, { token: key });
    await press("Service accounts");
    await page.getByRole("button", { name: "Create service account…" }).first().click();
    await page.getByLabel("Name").fill("order sync");
    await page.getByLabel("Role", { exact: true }).selectOption("Developer");
    await press("Create");
    await page.getByRole("heading", { name: "order sync" }).waitFor();
    expect(new URL(page.url()).searchParams.get("account")).to.match(/^[0-9a-f-]{36}$/);

    await press("Create key…");
    await page.getByLabel("Name").fill("first key");
    await page.getByLabel("Only these scopes").check();
    expect(await page.getByText("become any person up to the account’s role").count()).to.equal(1);
    await press("Create");
    expect(await page.getByRole("alert").textContent()).to.equal("Choose at least one scope.");
    await page.getByLabel("events:read").check();
    await press("Create");
    const first = await secret();
    await press("I have stored it");
    await row("first key").getByText("events:read").waitFor();
    await api(first).listEvents();
    expect(await failure(api(first).listSenders())).to.equal(403);

    await press("Rotate first key…");
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    const second = await secret();
    await press("I have stored it");
    await api(first).listEvents();
    await api(second).listEvents();
    expect(await failure(api(second).listSenders())).to.equal(403);
    await page.getByRole("button", { name: "Revoke first key…" }).first().click();
    await press("Revoke");
    await row("first key").nth(1).waitFor({ state: "detached" });

    await press("Change role…");
    await page.getByLabel("Role", { exact: true }).selectOption("Viewer");
    await press("Change role");
    await page.getByRole("definition").filter({ hasText: "Viewer" }).waitFor();
    await press("Switch off…");
    await press("Switch off");
    await press("Switch on…");
    expect(await failure(api(second).listEvents())).to.equal(401);
    await press("Switch on");
    await press("Switch off…");
    await press("Keep as it is");
    await api(second).listEvents();
    await press("Delete…");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No service account yet").waitFor();
    expect(await failure(api(second).listEvents())).to.equal(401);
  });

  it("replaces the webhook secret at once after its tenant's name is typed, and checks signatures", async () => {
    const own = await createTenant(stage.relay.url);
    await stage.browser.context.clearCookies();
    await seen.go("/keys?tab=secret");
    await signIn(seen, { email: own.owner.email, password });
    const before = await page.getByRole("definition").first().innerText();
    await press("Show the secret");
    expect(await secret()).to.equal(own.webhookSecret);
    await page.keyboard.press("Escape");

    await press("Make a new secret…");
    const form = page.getByRole("dialog", { name: "Make a new webhook secret" });
    await form.getByLabel("Older secrets sign, too, for").selectOption("0");
    await form.getByRole("button", { name: "Make a new secret" }).click();
    const question = page.getByRole("dialog", { name: "Replace it at once?" });
    const act = question.getByRole("button", { name: "Make a new secret" });
    expect(await act.isDisabled()).to.equal(true);
    await question.getByLabel("to confirm").fill(own.name);
    await act.click();
    const fresh = await secret();
    await page.keyboard.press("Escape");
    await press("I have stored it");
    expect(fresh).not.to.equal(own.webhookSecret);
    await page.getByRole("definition").first().filter({ hasNotText: before }).waitFor();

    await press("Signature check");
    const payload = "{\"a\": 1}\n";
    const signed = (by: string) => `sha256=${createHmac("sha256", by).update(payload).digest("hex")}`;
    await page.getByLabel("Payload").fill(payload);
    await page.getByLabel("X-Service-Signature").fill(` ${signed(fresh)} `);
    await press("Check the signature");
    await page.getByText("✓ Valid").waitFor();
    await page.getByLabel("X-Service-Signature").fill(signed(own.webhookSecret));
    await press("Check the signature");
    await page.getByText("✕ Not valid").waitFor();
  });

  it("replaces the webhook secret with an overlap, counts it down, and ends it early", async () => {
    const own = await createTenant(stage.relay.url);
    await stage.browser.context.clearCookies();
    await seen.go("/keys?tab=secret");
    await signIn(seen, { email: own.owner.email, password });
    const before = await page.getByRole("definition").first().innerText();
    await press("Make a new secret…");
    const form = page.getByRole("dialog", { name: "Make a new webhook secret" });
    await form.getByLabel("Your own secret").fill("whsec_short");
    await form.getByRole("button", { name: "Make a new secret" }).click();
    await form.getByRole("alert").filter({ hasText: "secret" }).waitFor();
    const given = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
    await form.getByLabel("Your own secret").fill(given);
    await form.getByRole("button", { name: "Make a new secret" }).click();
    expect(await secret()).to.equal(given);
    await press("I have stored it");
    const row = page.getByRole("row").filter({ hasText: before });
    await row.getByText(/^in (23 h|1 d)/).waitFor();
    await press("End older secrets now…");
    const end = page.getByRole("dialog", { name: "End the older secrets?" });
    await end.getByRole("button", { name: "End them" }).click();
    await row.waitFor({ state: "detached" });
    expect(await own.owner.client.api.getWebhookSecret({ id: own.tenantId })).to.deep.equal({ webhookSecret: given });
  });
});

/** The status with which a request failed. */
async function failure(asked: Promise<unknown>): Promise<unknown> {
  return asked.then(() => "succeeded", (error: { status: unknown }) => error.status);
}
