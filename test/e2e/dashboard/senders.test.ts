import { expect } from "chai";
import { createUser, login } from "../../support/accounts.ts";
import { countClicks } from "../../support/clicks.ts";
import { dashboardStage, signIn, type Visit } from "../../support/dashboard.ts";
import { eventReaches, openAccount, type Account } from "../../support/relay.ts";

const digits = "1234567890".repeat(20);
const hostile = `{"order":{"id":${digits}},"html":"</script><img src=x onerror=alert(1)>","note":"\\u0000\u202e"}`;

describe("the pages of senders", () => {
  const stage = dashboardStage({ receiver: {} });
  let account: Account;
  let destinationId: string;
  let seen: Visit;
  before(async () => {
    account = await openAccount(stage.relay.url);
    destinationId = (await account.destination({ url: `https://127.0.0.1:${stage.receiver.port}/shop` })).id;
  });
  beforeEach(async () => {
    seen = await stage.visit();
  });

  interface Made {
    readonly id: string;
    readonly ingestToken: string;
  }

  const sender = async (fields: object = {}): Promise<Made> => {
    const body = { name: "shop", destinationUrlId: destinationId, ...fields };
    return await account.owner.post("/api/v1/senders", body) as unknown as Made;
  };

  const signedInAt = async (path: string) => {
    await seen.go(path);
    await signIn(seen, account);
  };

  /** Posts an event through a sender, and waits for its delivery. */
  const posted = async ({ ingestToken }: Made, body: string) => {
    const answer = await fetch(`${stage.relay.url}/api/v1/ingest/${account.tenantId}/${ingestToken}`, {
      method: "POST", headers: { ...account.producer.headers, "content-type": "application/json" }, body,
    });
    const { eventId } = await answer.json() as { eventId: string };
    await eventReaches(account.owner, eventId, "Succeeded");
    return eventId;
  };

  it("lets a person create a sender and post with the command beside its token, which is shown once", async () => {
    await signedInAt("/senders");
    const { page } = seen;
    await page.getByRole("button", { name: "New sender…" }).first().click();
    await page.getByLabel("Name").fill("shop front");
    await page.getByLabel("Destination").selectOption(destinationId);
    await page.getByRole("button", { name: "Create" }).click();
    const dialog = page.getByRole("dialog", { name: "The ingest token of shop front" });
    const command = await dialog.locator("pre").textContent();
    const [, token] = /\/(sndr_[\w-]+)"/.exec(command ?? "") ?? [];
    expect(await dialog.locator("p code").textContent()).to.equal(token);
    expect(command).to.include(`/api/v1/ingest/${account.tenantId}/`).and.include('-H "X-API-Key: $API_KEY"');
    await page.keyboard.press("Escape");
    await dialog.getByRole("button", { name: "I have stored it" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "shop front", exact: true }).waitFor();
    expect(await page.content()).not.to.include(token);
    await posted({ id: "", ingestToken: token ?? "" }, '{"a":1}');
    await page.getByRole("button", { name: "Switch off…" }).click();
    await page.getByText("Posts to its address are refused with 422").waitFor();
    await page.getByRole("button", { name: "Keep as it is" }).click();
    await posted({ id: "", ingestToken: token ?? "" }, '{"a":2}');
    await page.getByRole("button", { name: "Switch off…" }).click();
    await page.getByRole("button", { name: "Switch it off" }).click();
    await page.getByText("Inactive", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Switch on" }).click();
    await page.getByText("Active", { exact: true }).waitFor();
  });

  it("tries a mapping on a recorded event as one types, with every digit, and saves it", async () => {
    const made = await sender();
    await posted(made, '{"order":{"id":1}}');
    const newest = await posted(made, hostile);
    await signedInAt(`/senders/${made.id}`);
    const { page } = seen;
    const original = page.getByRole("textbox", { name: "Original" });
    await original.getByText(digits).waitFor();
    expect(await original.innerText()).to.include("</script><img src=x onerror=alert(1)>").and.include("\\u0000");
    expect(await page.locator("main img[src]").count()).to.equal(0);
    expect(await page.getByLabel("Recorded event").inputValue()).to.equal(newest);
    await page.getByLabel("JMESPath expression").fill("{id: order.id, page: html}");
    const result = page.getByRole("textbox", { name: "Result" });
    await result.getByText('"page"').waitFor();
    expect((await result.innerText()).replace(/\s/g, ""))
      .to.equal(`{"id":${digits},"page":"</script><imgsrc=xonerror=alert(1)>"}`);
    await page.getByRole("button", { name: "Save the mapping" }).click();
    await page.getByText("Saved. The next event is mapped by it.").waitFor();
    await posted(made, '{"order":{"id":7},"html":"x"}');
    expect(stage.receiver.requests.at(-1)?.body.toString()).to.equal('{"id":7,"page":"x"}');
  });

  it("offers received bodies, not mapped ones", async () => {
    const made = await sender({ mapping: { language: "jmespath", expression: "{id: order.id}" } });
    const first = await posted(made, '{"order":{"id":1},"more":true}');
    await posted(made, '{"order":{"id":2}}');
    await signedInAt(`/senders/${made.id}?event=${first}`);
    const { page } = seen;
    await page.getByRole("textbox", { name: "Original" }).getByText('"more"').waitFor();
    await page.getByRole("textbox", { name: "Result" }).getByText('"id"').waitFor();
  });

  it("A mapping against the newest 100: 1", async () => {
    const made = await sender({ mapping: { language: "jmespath", expression: "{id: order.id}" } });
    await posted(made, '{"order":{"id":1},"lines":[]}');
    const other = await posted(made, `{"order":{"id":${digits}},"lines":[1,2]}`);
    const failing = await posted(made, '{"order":{"id":3},"lines":"many"}');
    await signedInAt(`/senders/${made.id}`);
    const { page } = seen;
    const changed = "lines && {id: order.id, sum: sum(lines)} || {id: order.id}";
    await page.getByLabel("JMESPath expression").fill(changed);
    const clicks = await countClicks(page);
    await page.getByRole("button", { name: "Try on the newest 100" }).click();
    await page.getByText("1 same, 1 differs, 1 fails").waitFor();
    expect(await clicks()).to.equal(1);
    const found = page.getByRole("listitem");
    const differing = found.filter({ hasText: other });
    expect(await differing.getByRole("term").allInnerTexts()).to.deep.equal(["/sum"]);
    expect(await differing.getByRole("definition").allInnerTexts()).to.deep.equal(["+ 3"]);
    expect(await found.filter({ hasText: failing }).innerText()).to.include("✕ the mapping");
    await found.filter({ hasText: failing }).getByRole("link").click();
    await page.getByRole("textbox", { name: "Original" }).getByText('"many"').waitFor();
    await page.getByLabel("JMESPath expression").fill("{id: order.id}");
    await page.getByText("1 same, 1 differs, 1 fails").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Try on the newest 100" }).click();
    await page.getByText("3 same", { exact: true }).waitFor();
  });

  it("shows an error of the mapping at its expression, and one of a pasted original at the original", async () => {
    const { id } = await sender();
    await signedInAt(`/senders/${id}`);
    const { page } = seen;
    const expression = page.getByLabel("JMESPath expression");
    const described = async () => {
      const ids = (await expression.getAttribute("aria-describedby"))?.split(" ") ?? [];
      return page.locator(`[id="${ids[1] ?? ""}"]`).textContent();
    };
    await expression.fill("{id: nope(@)}");
    await page.locator('textarea[aria-invalid="true"]').waitFor();
    expect(await described()).to.match(/^mapping\.expression: /);
    await page.getByRole("button", { name: "Save the mapping" }).click();
    expect(await described()).to.match(/^mapping\.expression: /);
    await expression.fill("data.lines");
    await page.getByText("payload: the mapping yields an array, not an object").waitFor();
    expect(await described()).to.include("yields an array");
    await expression.fill("@");
    const original = page.getByRole("textbox", { name: "Original" });
    const replace = async (text: string) => {
      await original.click();
      await page.keyboard.press("Control+a");
      await page.keyboard.type(text);
    };
    await replace("[1");
    await page.getByText("payload: must be valid JSON").waitFor();
    expect(await expression.getAttribute("aria-invalid")).to.equal("false");
    await replace('{"g":1,"j":2}');
    await page.getByRole("textbox", { name: "Result" }).getByText('"j"').waitFor();
    await page.keyboard.type("g e?");
    expect(new URL(page.url()).pathname).to.equal(`/app/senders/${id}`);
    expect(await original.innerText()).to.include("g e?");
  });

  it("keeps text typed while another is saved or refused, and shows no error of that other", async () => {
    const { id } = await sender();
    await signedInAt(`/senders/${id}`);
    const { page } = seen;
    const expression = page.getByLabel("JMESPath expression");
    const save = page.getByRole("button", { name: "Save the mapping" });
    let answer = () => {};
    await page.route("**/api/v1/senders/*", async (route) => {
      if (route.request().method() === "PATCH") await new Promise<void>((resolve) => answer = resolve);
      await route.continue();
    });
    const savesWhile = async (first: string, second: string) => {
      await expression.fill(first);
      const asked = page.waitForRequest((request) => request.method() === "PATCH");
      await save.click();
      await asked;
      await expression.fill(second);
      const answered = page.waitForResponse((response) => response.request().method() === "PATCH");
      answer();
      await answered;
      await page.locator("button:enabled", { hasText: "Save the mapping" }).waitFor();
      expect(await expression.inputValue()).to.equal(second);
    };
    await savesWhile("{id: nope(@)}", "{id: data.id}");
    await page.getByRole("textbox", { name: "Result" }).getByText('"id"').waitFor();
    expect(await expression.getAttribute("aria-invalid")).to.equal("false");
    await savesWhile("{a: data.id}", "{b: data.id}");
    expect(await page.getByText("This was changed meanwhile").count()).to.equal(0);
    await page.unrouteAll();
  });

  it("shows a body of one long line, and maps it, while the page stays usable", async () => {
    const made = await sender();
    const long = "x".repeat(200_000);
    await posted(made, `{"first":1,"long":"${long}"}`);
    await signedInAt(`/senders/${made.id}`);
    const { page } = seen;
    await page.getByRole("textbox", { name: "Original" }).getByText('"long"').waitFor();
    await page.getByLabel("JMESPath expression").fill("{size: length(long)}");
    await page.getByRole("textbox", { name: "Result" }).getByText("200000").waitFor();
  });

  it("lets a Viewer try a mapping, and shows no control that changes anything", async () => {
    const viewer = { email: `viewer-${process.pid}@example.com`, password: "correct horse battery" };
    await account.owner.post("/api/v1/users", { ...viewer, role: 20 });
    const { id } = await sender({ mapping: { language: "jmespath", expression: "{a: data.id}" } });
    await seen.go(`/senders/${id}`);
    await signIn(seen, viewer);
    const { page } = seen;
    await page.getByText("Developers, Admins and Owners can change senders.").waitFor();
    await page.getByLabel("JMESPath expression").fill("{b: data.id}");
    await page.getByRole("textbox", { name: "Result" }).getByText('"b"').waitFor();
    const main = page.getByRole("main");
    expect(await main.getByRole("button").allInnerTexts())
      .to.deep.equal(["Mapping", "Settings", "Ingest address", "Changes", "Try on the newest 100", ""]);
    await page.getByRole("button", { name: "Settings" }).click();
    expect(await main.getByRole("textbox").count()).to.equal(0);
    await seen.go("/senders");
    await page.getByText("Developers, Admins and Owners can create senders.").waitFor();
    expect(await page.getByRole("button", { name: "New sender…" }).count()).to.equal(0);
  });

  it("saves changed fields only, keeps typed text while a colleague changes others, and says so", async () => {
    const { id } = await sender({ searchFields: [{ name: "order", path: "/order/id" }] });
    const elsewhere = await account.destination({ url: `https://127.0.0.1:${stage.receiver.port}/elsewhere` });
    const colleague = await createUser(await login(stage.relay.url, account.email), "developer");
    const { page } = seen;
    await page.clock.install();
    await signedInAt(`/senders/${id}?tab=settings`);
    const name = page.getByLabel("Name", { exact: true });
    await name.fill("shop three");
    await colleague.client.api.updateSender({ id }, {
      destinationUrlId: elsewhere.id,
      searchFields: [{ name: "order", path: "/order/id" }, { name: "shop", path: "/s" }],
    });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    expect(await page.getByLabel("Destination").inputValue()).to.equal(elsewhere.id);
    expect(await page.getByLabel("Tag 2").inputValue()).to.equal("shop");

    await name.fill("not saved");
    await page.getByLabel("Tag 3").fill("till");
    await page.getByLabel("Path 3").fill("/till");
    await colleague.client.api.updateSender({ id }, { name: "shop four", searchFields: [{ name: "s", path: "/s" }] });
    await page.clock.fastForward(6_000);
    const said = page.getByText("This was changed meanwhile.").locator("..");
    await said.getByText(`${colleague.email} renamed the sender to “shop four”`).waitFor();
    expect(await name.inputValue()).to.equal("not saved");
    expect(await page.getByLabel("Tag 1").inputValue()).to.equal("s");
    await name.fill("shop four");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    expect(await account.owner.get(`/api/v1/senders/${id}`)).to.deep.include({
      name: "shop four", destinationUrlId: elsewhere.id,
      searchFields: [{ name: "s", path: "/s" }, { name: "till", path: "/till" }],
    });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Nothing was changed.").waitFor();
  });

  it("follows a mapping that a colleague saves, unless a person has typed another one", async () => {
    const { id } = await sender({ mapping: { language: "jmespath", expression: "{a: a}" } });
    const { page } = seen;
    await page.clock.install();
    await signedInAt(`/senders/${id}`);
    const expression = page.getByLabel("JMESPath expression");
    const save = async (text: string) => {
      await account.owner.patch(`/api/v1/senders/${id}`, { mapping: { language: "jmespath", expression: text } });
      await page.clock.fastForward(6_000);
    };
    await expression.waitFor();
    await save("{b: b}");
    await page.locator("textarea").filter({ hasText: "{b: b}" }).waitFor();
    await expression.fill("{c: c}");
    await save("{d: d}");
    await page.getByText("This was changed meanwhile.").waitFor();
    expect(await expression.inputValue()).to.equal("{c: c}");
    await page.getByRole("button", { name: "As it was saved" }).click();
    expect(await expression.inputValue()).to.equal("{d: d}");
  });

  it("renames a sender, gives it search fields with an error at its field, and deletes it by its name", async () => {
    const { id } = await sender();
    await signedInAt(`/senders/${id}?tab=settings`);
    const { page } = seen;
    await page.getByLabel("Name", { exact: true }).fill("shop two");
    await page.getByLabel("Tag 1").fill("order");
    await page.getByLabel("Path 1").fill("order.id");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("searchFields.0.path: must be a JSON Pointer").waitFor();
    expect(await page.getByLabel("Path 1").getAttribute("aria-invalid")).to.equal("true");
    await page.getByLabel("Path 1").fill("/order/id");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "shop two" }).waitFor();
    await page.getByRole("button", { name: "New token…" }).click();
    await page.getByRole("button", { name: "Replace the token" }).click();
    await page.getByRole("button", { name: "I have stored it" }).click();
    await page.getByRole("button", { name: "Delete…" }).click();
    await page.getByLabel(/to confirm/).fill("shop two");
    await page.getByRole("button", { name: "Delete the sender" }).click();
    await page.getByRole("heading", { name: "Senders" }).waitFor();
    expect(await page.getByRole("link", { name: "shop two" }).count()).to.equal(0);
  });
});
