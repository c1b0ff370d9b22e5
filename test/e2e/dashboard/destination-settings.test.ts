import { X509Certificate } from "node:crypto";
import { expect } from "chai";
import { createUser, login, password, type Client } from "../../support/accounts.ts";
import { axeViolations } from "../../support/axe.ts";
import { dashboardStage, signIn } from "../../support/dashboard.ts";
import { openAccount, type Account } from "../../support/relay.ts";
import { makeAuthority, type ServerIdentity } from "../../support/tls.ts";

const dayMs = 86_400_000;

describe("the settings of a destination in the dashboard", () => {
  const stage = dashboardStage({ receiver: {} });
  let account: Account;
  let owner: Client;
  before(async () => {
    account = await openAccount(stage.relay.url);
    owner = await login(stage.relay.url, account.email);
  });

  const open = async (id: string, person: { readonly email: string; readonly password: string } = account) => {
    const seen = await stage.visit();
    await seen.page.clock.install();
    await seen.go(`/destinations/${id}?tab=settings`);
    await signIn(seen, person);
    return seen.page;
  };

  it("keep the stored value of a header beside new ones, and say a wrong one at the field", async () => {
    const { id } = await account.destination({
      url: stage.receiver.url("/headers"), headers: { "X-Secret": "kept", "X-Gone": "soon" },
    });
    const page = await open(id);
    const form = page.getByRole("region", { name: "Headers" });
    const field = form.getByLabel("Headers", { exact: true });
    expect(await field.inputValue()).to.equal("X-Secret: ***\nX-Gone: ***");
    const save = form.getByRole("button", { name: "Save" });
    await field.fill("X-Secret: ***\nX-Relay-Id: 1");
    await save.click();
    await form.getByRole("alert").filter({ hasText: "headers.X-Relay-Id" }).waitFor();
    expect(await field.getAttribute("aria-invalid")).to.equal("true");
    await field.fill("X-Secret: ***\nX-Region: eu:west");
    await save.click();
    await form.getByText("Saved.").waitFor();
    await page.waitForFunction(
      `document.querySelector("[name=headers]").value === ${JSON.stringify("X-Secret: ***\nX-Region: ***")}`);
    await owner.api.testDestination({ id }, {});
    await stage.receiver.waitFor((receiver) => receiver.requestsTo("/headers").length > 0);
    expect(stage.receiver.requestsTo("/headers").map(({ headers }) =>
      ["x-secret", "x-region", "x-gone"].map((name) => headers[name]))).to.deep.equal([["kept", "eu:west", undefined]]);
  });

  it("set a rate, and an order that cannot change while events wait", async () => {
    const { id, ingest } = await account.destination({ url: stage.receiver.url("/order") });
    const page = await open(id);
    const delivery = page.getByRole("region", { name: "Delivery" });
    await delivery.getByLabel("Rate per second").fill("0.5");
    await delivery.getByRole("button", { name: "Save" }).click();
    await delivery.getByText("Saved.").waitFor();
    const order = page.getByRole("region", { name: "Order" });
    const save = order.getByRole("button", { name: "Save" });
    await order.getByLabel("Order of deliveries").selectOption("key");
    await order.getByLabel("Value in the payload").fill("customer");
    await save.click();
    await order.getByRole("alert").filter({ hasText: "ordering" }).waitFor();
    await order.getByLabel("Value in the payload").fill("/customer/id");
    await save.click();
    await order.getByText("Saved.").waitFor();
    expect(await owner.api.getDestination({ id }))
      .to.deep.include({ ratePerSecond: 0.5, ordering: { by: "/customer/id" } });

    stage.receiver.on("/order", () => ({ status: 500 }));
    await account.producer.post(ingest, { customer: { id: 1 } });
    await page.clock.fastForward(6_000);
    await order.getByText("It cannot change while events wait. 1 event waits now").waitFor();
    await order.getByLabel("Order of deliveries").selectOption("none");
    await save.click();
    await order.getByRole("alert").filter({ hasText: "wait" }).waitFor();
  });

  it("give it a secret of its own, replace it with an overlap, end that early, and remove it", async () => {
    const { id } = await account.destination({ url: stage.receiver.url("/signed") });
    const page = await open(id);
    const signing = page.getByRole("region", { name: "Signing" });
    const fingerprint = signing.getByRole("definition").first();
    const older = signing.getByRole("table", { name: "Older secrets" }).getByRole("row");
    const shown = async (title: string) => {
      const secret = await page.getByRole("dialog", { name: title }).locator("code").textContent();
      expect(await owner.api.getSigningSecret({ id })).to.include({ webhookSecret: secret });
      return secret;
    };
    const replace = async () => {
      await signing.getByRole("button", { name: "Make a new secret…" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Make a new secret" }).click();
      const secret = await shown("The new signing secret");
      await page.getByRole("button", { name: "I have stored it" }).click();
      return secret;
    };
    await signing.getByText("The tenant’s webhook secret signs.").waitFor();
    const first = await replace();
    await older.filter({ hasText: "the tenant’s secret" }).getByText(/^in (23 h|1 d)/).waitFor();
    const before = await fingerprint.innerText();
    expect(await replace()).not.to.equal(first);
    await older.filter({ hasText: before }).getByText(/^in (23 h|1 d)/).waitFor();

    await signing.getByRole("button", { name: "Show the secret" }).click();
    await shown("The signing secret");
    await page.keyboard.press("Escape");
    await signing.getByRole("button", { name: "End older secrets now…" }).click();
    await page.getByRole("button", { name: "End them" }).click();
    await older.first().waitFor({ state: "detached" });
    expect(await owner.api.getSigningSecret({ id })).to.have.all.keys("webhookSecret");
    await signing.getByRole("button", { name: "Remove the secret…" }).click();
    await page.getByRole("button", { name: "Remove it" }).click();
    await signing.getByText("The tenant’s webhook secret signs.").waitFor();
    expect(await page.content()).not.to.include("whsec_");
  });

  it("make, replace and remove its Ed25519 key, and show the public one", async () => {
    const { id } = await account.destination({ url: stage.receiver.url("/key") });
    const page = await open(id);
    const signing = page.getByRole("region", { name: "Signing" });
    const listed = async () => {
      const { keys } = await owner.api.listSigningKeys({ id: account.tenantId });
      return keys.find(({ destinationUrlId }) => destinationUrlId === id)?.publicKey;
    };
    const key = signing.locator("code", { hasText: /^whpk_/ });
    await signing.getByRole("button", { name: "Make a key" }).click();
    await key.waitFor();
    const first = await key.innerText();
    expect(await listed()).to.equal(first);
    await signing.getByRole("button", { name: "Make another key…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Make another key" }).click();
    await signing.locator("code", { hasText: /^whpk_/ }).filter({ hasNotText: first }).waitFor();
    expect(await listed()).to.equal(await key.innerText());
    await signing.getByRole("button", { name: "Remove the key…" }).click();
    await page.getByRole("button", { name: "Remove it" }).click();
    await signing.getByText("None: no delivery has a v1a signature.").waitFor();
    expect(await listed()).to.equal(undefined);
  });

  it("set, replace and remove a client certificate, and warn of one that expires soon", async () => {
    const { id } = await account.destination({ url: stage.receiver.url("/certificate") });
    const page = await open(id);
    const group = page.getByRole("region", { name: "Client certificate" });
    const dialog = page.getByRole("dialog", { name: "Client certificate" });
    const authority = makeAuthority();
    const set = async (act: string, { cert, key }: ServerIdentity) => {
      await group.getByRole("button", { name: act }).click();
      await dialog.getByLabel("Certificate", { exact: true }).fill(cert);
      await dialog.getByLabel("Private key").fill(key);
      await dialog.getByRole("button", { name: "Set the certificate" }).click();
    };
    const fingerprintOf = ({ cert }: ServerIdentity) =>
      new X509Certificate(cert).fingerprint256.replaceAll(":", "").toLowerCase();
    const [first, second] = [authority.issue(["client"], 13 * dayMs), authority.issue(["client"], 20 * dayMs)];
    await group.getByText("None.").waitFor();
    await set("Set a certificate…", { ...first, key: second.key });
    await dialog.getByRole("alert").filter({ hasText: "clientCertificate.privateKey" }).waitFor();
    expect(await axeViolations(page)).to.deep.equal([]);
    await dialog.getByLabel("Private key").fill(first.key);
    await dialog.getByRole("button", { name: "Set the certificate" }).click();
    await group.getByText(fingerprintOf(first)).waitFor();
    await group.getByText(/It expires soon/).waitFor();
    await set("Replace the certificate…", second);
    await group.getByText(fingerprintOf(second)).waitFor();
    expect(await group.getByText(/It expires soon/).count()).to.equal(0);
    expect(await page.content()).not.to.include("PRIVATE KEY");
    await group.getByRole("button", { name: "Remove the certificate…" }).click();
    await page.getByRole("button", { name: "Remove it" }).click();
    await group.getByText("None.").waitFor();
    expect(await owner.api.getDestination({ id })).to.include({ clientCertificate: null });
  });

  it("give a client credentials grant an audience, a resource, further parameters and one proof", async () => {
    const { id } = await account.destination({ url: stage.receiver.url("/grant") });
    const page = await open(id);
    const delivery = page.getByRole("region", { name: "Delivery" });
    await delivery.getByLabel("Authentication", { exact: true }).selectOption("JwtBearer");
    const typed = {
      "Token endpoint": stage.receiver.url("/token"), "Client id": "me", Secret: "hidden",
      "Audience (optional)": "them",
      "Resource (optional)": "https://resource.example/", "Further parameters (optional)": "scope: all",
    };
    for (const [label, text] of Object.entries(typed)) await delivery.getByLabel(label, { exact: true }).fill(text);
    await delivery.getByLabel("Client authentication").selectOption("in the form alone");
    await delivery.getByRole("button", { name: "Save" }).click();
    await delivery.getByRole("alert").filter({ hasText: "extraParameters" }).waitFor();
    await delivery.getByLabel("Further parameters (optional)").fill("tenant: acme\nregion: eu");
    await delivery.getByRole("button", { name: "Save" }).click();
    await delivery.getByText("Saved.").waitFor();
    await owner.api.testDestination({ id }, {});
    await stage.receiver.waitFor((receiver) => receiver.requestsTo("/token").length > 0);
    const [grant] = stage.receiver.requestsTo("/token").map(({ body }) => new URLSearchParams(body.toString()));
    expect(Object.fromEntries(grant ?? [])).to.deep.equal({
      grant_type: "client_credentials", client_id: "me", client_secret: "hidden", audience: "them",
      resource: "https://resource.example/", tenant: "acme", region: "eu",
    });
  });

  it("show a Viewer how deliveries are signed and sent, without acts and values", async () => {
    const { id } = await account.destination({
      url: stage.receiver.url("/viewed"), headers: { "X-Secret": "hidden" }, ordering: { by: "/customer" },
    });
    await owner.api.replaceSigningSecret({ id });
    await owner.api.replaceSigningKey({ id });
    const viewer = await createUser(owner, "viewer");
    const page = await open(id, { email: viewer.email, password });
    const signing = page.getByRole("region", { name: "Signing" });
    await signing.locator("code", { hasText: /^whpk_/ }).waitFor();
    await signing.getByText("Fingerprint").waitFor();
    await page.getByRole("region", { name: "Headers" }).getByText("X-Secret").waitFor();
    await page.getByRole("region", { name: "Order" }).getByText("/customer").waitFor();
    const settings = page.getByRole("region", { name: "Settings" });
    const acts = settings.getByRole("button").and(page.locator(":not([aria-label^=Copy])"));
    expect(await acts.allInnerTexts()).to.deep.equal([]);
    expect(await settings.locator("[data-no-right]").allInnerTexts())
      .to.deep.equal(["Developers, Admins and Owners see secrets, and change how deliveries are signed."]);
  });
});
