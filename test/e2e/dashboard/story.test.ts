import { expect } from "chai";
import { chromiumOrSkip, type Chromium } from "../../support/chromium.ts";
import { signIn, visit, type Visit } from "../../support/dashboard.ts";
import { startReceiver, type Receiver, type Script } from "../../support/receiver.ts";
import { eventReaches, openAccount, startTestRelay, type Account, type TestRelay } from "../../support/relay.ts";

describe("the story of an event on its page", () => {
  let browser: Chromium | undefined;
  let receiver: Receiver | undefined;
  let relay: TestRelay | undefined;
  let account: Account;
  let seen: Visit | undefined;
  before(async function () {
    browser = await chromiumOrSkip(this, { bypassCSP: false });
    receiver = await startReceiver();
    relay = await startTestRelay(receiver);
    account = await openAccount(relay.url, { maxTrys: 3, circuitBreakerTimer: 2 });
    seen = await visit(browser, relay.url.replace("127.0.0.1", "localhost"));
    await seen.go("/");
    await signIn(seen, account);
  });
  after(async () => {
    await seen?.close();
    await browser?.close();
    await relay?.close();
    await receiver?.close();
  });
  afterEach(() => seen?.expectNoFault());

  let paths = 0;
  /** A destination of a receiver that answers so. */
  const opened = async (script: Script) => {
    paths += 1;
    receiver!.on(`/story-${paths}`, script);
    const { id, ingest } = await account.destination({ url: receiver!.url(`/story-${paths}`) });
    return {
      id,
      post: async (body: string, headers: Readonly<Record<string, string>> = {}) => {
        const answer = await fetch(relay!.url + ingest, {
          method: "POST", body,
          headers: { ...account.producer.headers, "content-type": "application/json", ...headers },
        });
        return ((await answer.json()) as { eventId: string }).eventId;
      },
    };
  };

  it("shows an event that was given up", async () => {
    const { post } = await opened(() => ({ status: 500, body: "<h1>no</h1>" }));
    const id = await post('{"order": 1}');
    await eventReaches(account.owner, id, "CriticalFailure");
    await seen!.go(`/events/${id}`);
    await seen!.page.getByText(/Given up, .* after acceptance: 3 attempts failed, the tenant's maximum\./).waitFor();
    const titles = await seen!.page.locator(".chapter .title").allTextContents();
    expect(titles).to.deep.equal(["Accepted", "Attempt 1", "Waited", "Attempt 2", "Waited", "Attempt 3", "Given up"]);
  });
});
