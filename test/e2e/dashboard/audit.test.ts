import { expect } from "chai";
import type { Schemas } from "../../../packages/client/src/index.ts";
import { dashboardStage, signIn, type Visit } from "../../support/dashboard.ts";
import { openAccount, type Account } from "../../support/relay.ts";

describe("the page of the audit", () => {
  const stage = dashboardStage();
  let account: Account;
  let senderId: string;
  let entries: readonly Schemas["AuditItem"][];
  let seen: Visit;
  before(async () => {
    account = await openAccount(stage.relay.url);
    const { owner } = account;
    const { id } = await account.destination({ url: "https://shop.example/hooks" });
    senderId = (await owner.post("/api/v1/senders", { name: "till", destinationUrlId: id }))["id"] as string;
    const path = `/api/v1/senders/${senderId}`;
    await owner.patch(path, { name: "till two", status: "inactive" });
    await owner.patch(path, { mapping: { language: "jmespath", expression: "{n: a}" } });
    await owner.delete(path);
    entries = (await owner.get(`/api/v1/audit?SubjectId=${senderId}`))["items"] as typeof entries;
  });
  beforeEach(async () => {
    seen = await stage.visit();
  });

  const entry = (type: string) => entries.find((fact) => fact.type === type)!;
  const lines = () => seen.page.locator("main ol > li");
  const shownLines = async (count: number) => {
    await lines().nth(count - 1).waitFor();
    await lines().nth(count).waitFor({ state: "detached" });
    return lines().allInnerTexts();
  };

  it("has a line for each change with its author, and filters by type, request, thing and person", async () => {
    await seen.go("/audit");
    await signIn(seen, account);
    const { page } = seen;
    await page.getByText("deleted the sender").waitFor();
    const [newest] = await lines().allInnerTexts();
    expect(newest).to.include(`${account.email} deleted the sender`);
    await page.getByLabel("Type").selectOption("SenderRenamed");
    expect((await shownLines(1))[0]).to.include("renamed the sender to “till two”");
    expect(new URL(page.url()).search).to.equal("?Type=SenderRenamed");
    await page.getByRole("button", { name: "What it changed" }).click();
    await page.getByRole("link", { name: entry("SenderRenamed").correlationId }).click();
    await shownLines(2);
    expect(new URL(page.url()).searchParams.get("CorrelationId")).to.equal(entry("SenderRenamed").correlationId);
    await page.getByRole("link", { name: /^All about sender/ }).first().click();
    await shownLines(5);
    await page.getByLabel("Person or machine").selectOption({ label: account.email });
    await page.waitForURL(/ActorId=/);
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.waitForURL((url) => url.search === "");
    await page.getByText("created the tenant").waitFor();
  });

  it("shows characters of a name that turn its direction as symbols, and keeps its direction to the name", async () => {
    await account.owner.post("/api/v1/api-keys", { name: "\u202Eshop אבג" });
    await seen.go("/audit?Type=ApiKeyIssued");
    await signIn(seen, account);
    const name = seen.page.locator("main ol bdi").filter({ hasText: "“⟨202E⟩shop אבג”" }).first();
    const after = await seen.page.locator("main ol bdi").filter({ hasText: "(rk_" }).first().boundingBox();
    const box = await name.boundingBox();
    expect(box!.x + box!.width).to.be.at.most(after!.x + 1);
  });

  it("takes times in the zone of the preferences, and says that no entry matches", async () => {
    await seen.go("/audit");
    await signIn(seen, account);
    const { page } = seen;
    await page.getByLabel("From, UTC").fill("2001-02-03 04:05");
    await page.getByLabel("To, UTC").fill("tomorrow");
    await page.getByRole("button", { name: "Filter" }).click();
    expect(await page.locator("input:invalid").getAttribute("name")).to.equal("To");
    expect(new URL(page.url()).search).to.equal("");
    await page.getByLabel("To, UTC").fill("2001-02-03 05:00");
    await page.getByRole("button", { name: "Filter" }).click();
    await page.getByText("No entry matches these filters.").waitFor();
    const { searchParams } = new URL(page.url());
    expect(Object.fromEntries(searchParams)).to.deep.equal(
      { From: "2001-02-03T04:05:00.000Z", To: "2001-02-03T05:00:00.000Z" });
    expect(await page.getByLabel("From, UTC").inputValue()).to.match(/^2001-02-03 04:05:00$/);
  });

  it("says a refused filter at its field", async () => {
    await seen.go("/audit?SubjectId=shop");
    await signIn(seen, account);
    const { page } = seen;
    await page.getByText(/^SubjectId: /).waitFor();
    expect(await page.getByLabel("Thing").getAttribute("aria-invalid")).to.equal("true");
  });

  it("opens an entry as a diff, with links to the page of its thing before it and as of it", async () => {
    const { position } = entry("SenderRenamed");
    await seen.go(`/audit?SubjectId=${senderId}&open=${position}`);
    await signIn(seen, account);
    const { page } = seen;
    await page.locator("dl ins").waitFor();
    expect(await page.locator("dl:has(ins) dt").allInnerTexts()).to.deep.equal(["Name"]);
    expect(await page.locator("dl del").innerText()).to.equal("till");
    expect(await page.locator("dl ins").innerText()).to.equal("till two");
    await page.getByRole("link", { name: "The page as of this entry" }).click();
    await page.getByRole("heading", { name: "till two" }).waitFor();
    expect(new URL(page.url()).searchParams.get("at")).to.equal(position);
    expect(await page.getByRole("button", { name: "Delete…" }).count()).to.equal(0);
    await page.goBack();
    await page.getByRole("link", { name: "The page as it was before" }).click();
    await page.getByRole("heading", { name: "till", exact: true }).waitFor();
  });

  it("leads from a deletion to the last state of the thing, whose changes open as diffs, too", async () => {
    await seen.go(`/audit?open=${entry("SenderDeleted").position}`);
    await signIn(seen, account);
    const { page } = seen;
    await page.getByRole("link", { name: "The page as it was before" }).click();
    await page.getByRole("heading", { name: "till two" }).waitFor();
    expect(await page.getByLabel("JMESPath expression").inputValue()).to.equal("{n: a}");
    await page.getByRole("button", { name: "Changes" }).click();
    await page.getByRole("listitem").filter({ hasText: "changed the mapping" })
      .getByRole("button", { name: "What it changed" }).click();
    expect(await page.locator("dl ins").innerText()).to.equal("{n: a}");
  });
});
