import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { dashboardStage, signIn, type Visit } from "../../support/dashboard.ts";
import { type Receiver } from "../../support/receiver.ts";
import { openAccount } from "../../support/relay.ts";

describe("the dashboard's first steps", () => {
  const stage = dashboardStage({ receiver: {} });
  let seen: Visit | undefined;
  before(async () => {
    await stage.browser.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  });

  it("begin with a new tenant, which the sign-in leads to", async () => {
    const name = `First Contact ${process.pid}`;
    seen = await stage.visit();
    const { page } = seen;
    await seen.go("/");
    await page.getByRole("link", { name: "Create a tenant" }).click();
    await page.getByLabel("Name of the tenant").fill(name);
    await page.getByLabel("Your email").fill(`first-${process.pid}@acme.example`);
    await page.getByLabel("Password").fill("short");
    await page.getByRole("button", { name: "Create the tenant" }).click();
    expect(await page.getByRole("alert").textContent()).to.match(/^ownerPassword: /);
    await page.getByLabel("Password").fill("correct horse battery");
    await page.getByRole("button", { name: "Create the tenant" }).click();
    await page.getByText("0 of 5 steps done.").waitFor();
    await page.getByRole("banner").getByText(name).waitFor();
    await page.goBack();
    await page.goForward();
    await page.getByText("0 of 5 steps done.").waitFor();
  });

  it("take an active destination only, and the events of that one", async () => {
    const account = await openAccount(stage.relay.url);
    const open = async (path: string) =>
      String((await account.owner.post("/api/v1/destinations", { url: stage.receiver.url(path) }))["id"]);
    const older = await open("/older");
    const newer = await open("/newer");
    const setStatus = (id: string, status: "active" | "inactive") =>
      account.owner.patch(`/api/v1/destinations/${id}`, { status });
    await setStatus(newer, "inactive");
    seen = await stage.visit();
    const { page } = seen;
    await seen.go("/start");
    await signIn(seen, account);
    const link = page.getByRole("main").locator("a[href*='/destinations/']");
    await link.waitFor();
    expect(await link.getAttribute("href")).to.match(new RegExp(`/${older}$`));
    await setStatus(older, "inactive");
    await page.getByText("No destination is active.").waitFor();
    await page.getByRole("button", { name: "Create the destination" }).waitFor();
    await setStatus(newer, "active");
    await link.waitFor();
    expect(await link.getAttribute("href")).to.match(new RegExp(`/${newer}$`));
  });

  it("lead an empty tenant from the overview to a delivery with a verified signature, and resume", async () => {
    const account = await openAccount(stage.relay.url);
    for (const { id } of (await account.owner.get("/api/v1/api-keys"))["items"] as { id: string }[]) {
      await account.owner.delete(`/api/v1/api-keys/${id}`);
    }
    seen = await stage.visit();
    const { page } = seen;
    await seen.go("/");
    await signIn(seen, account);
    await page.getByRole("link", { name: "Begin with the first steps" }).click();
    await page.getByText("0 of 5 steps done.").waitFor();

    await page.getByLabel("URL of the receiver").fill("http://plain.example");
    await page.getByRole("button", { name: "Create the destination" }).click();
    expect(await page.getByRole("alert").textContent()).to.match(/^url: /);
    await page.getByLabel("URL of the receiver").fill(stage.receiver.url("/first"));
    await page.getByRole("button", { name: "Create the destination" }).click();
    await page.getByRole("dialog", { name: "The ingest token" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "I have stored it" }).click();
    await page.getByText("1 of 5 steps done.").waitFor();

    await page.reload();
    await page.getByRole("button", { name: "New ingest token…" }).click();
    await page.getByRole("button", { name: "Replace it" }).click();
    await page.getByRole("button", { name: "I have stored it" }).click();
    await page.getByLabel("Name of the key").fill("shop");
    await page.getByRole("button", { name: "Create the key" }).click();
    await page.getByRole("button", { name: "I have stored it" }).click();
    await page.getByText("Waiting for the event.").waitFor();

    expect(await page.getByLabel("curl").textContent()).to.match(/dst_….*rk_…/s);
    await page.getByRole("button", { name: "Copy the command" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const command = await page.evaluate<string>("navigator.clipboard.readText()");
    const { stdout } = await promisify(execFile)("sh", ["-c", command]);
    expect(stdout).to.match(/^HTTP\/1.1 202 /);
    await page.getByText("4 of 5 steps done.").waitFor();

    const [{ body, headers }] = stage.receiver.requestsTo("/first") as [Receiver["requests"][number]];
    const signature = String(headers["x-service-signature"]);
    await page.getByRole("textbox", { name: "Body" }).fill(`${body.toString()} `);
    await page.getByLabel("X-Service-Signature").fill(signature);
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByText("It is not the signature of this body.").waitFor();
    await page.getByRole("textbox", { name: "Body" }).fill(body.toString());
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByText("All five steps are done.").waitFor();
    await page.reload();
    await page.getByText("All five steps are done.").waitFor();
  });
});
