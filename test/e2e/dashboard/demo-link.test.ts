import { expect } from "chai";
import { openSignIn } from "../../../demo/sign-in.ts";
import { dashboardStage } from "../../support/dashboard.ts";
import { http } from "../../support/http.ts";
import { openAccount } from "../../support/relay.ts";

describe("the demo's link", () => {
  const stage = dashboardStage();
  let link: string;
  beforeEach(async () => {
    const { email, password } = await openAccount(stage.relay.url);
    link = await openSignIn(`${stage.origin}/app/`, async () => {
      const { headers } = await http("POST", `${stage.relay.url}/api/v1/auth/session`, {
        json: { email, password }, headers: { origin: stage.origin },
      });
      return headers.getSetCookie();
    });
  });
  afterEach(() => stage.browser.context.clearCookies());

  it("signs a browser in, once", async () => {
    const page = await stage.browser.context.newPage();
    await page.goto(link);
    await page.waitForURL(`${stage.origin}/app/`);
    await page.getByRole("button", { name: "Account and preferences" }).waitFor();
    await page.goto(link);
    await page.getByText("This link has been used").waitFor();
    await page.close();
  });

  it("takes its code from its own page at localhost only", async () => {
    const [address = "", code = ""] = link.split("#");
    const exchange = async (body: string, site: string, at = address) =>
      (await fetch(at, { method: "POST", body, headers: { "sec-fetch-site": site } })).status;
    expect(await exchange("x".repeat(code.length), "same-origin")).to.equal(403);
    expect(await exchange(code, "same-site")).to.equal(403);
    expect(await exchange(code, "same-origin", address.replace("localhost", "127.0.0.1"))).to.equal(421);
    expect(await exchange(code, "same-origin")).to.equal(200);
    expect(await exchange(code, "same-origin")).to.equal(403);
  });
});
