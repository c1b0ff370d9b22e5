import { expect } from "chai";
import { createClient, type OperationId } from "../../../packages/client/src/index.ts";
import { chromiumOrSkip, type Chromium } from "../../support/chromium.ts";
import { signIn, visit } from "../../support/dashboard.ts";
import { furnish, furnishedReceiver, type Furnished } from "../../support/furnished-tenant.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { startTestRelay, type TestRelay } from "../../support/relay.ts";

/** A page, and its acts by their names: each is there exactly for those who may call the operation. */
interface ActsOfPage {
  readonly path: (tenant: Furnished) => string;
  readonly acts: Readonly<Record<string, OperationId>>;
}

const pages: readonly ActsOfPage[] = [
  {
    path: () => "/events",
    acts: { "Replay all that match…": "orderReplay", "Cancel all that match…": "cancelEvents" },
  },
  { path: ({ events }) => `/events/${events.delivered}`, acts: { "Resend…": "resendEvent" } },
  { path: ({ events }) => `/events/${events.held}`, acts: { "Cancel event…": "cancelEvent" } },
  { path: () => "/destinations", acts: { "New destination…": "createDestination" } },
  {
    path: ({ destinationId }) => `/destinations/${destinationId}`,
    acts: {
      "Send test event…": "testDestination", "Switch off": "updateDestination",
      "New ingest token…": "regenerateDestinationToken", "Delete…": "deleteDestination",
    },
  },
  { path: () => "/senders", acts: { "New sender…": "createSender" } },
  {
    path: ({ senderId }) => `/senders/${senderId}`,
    acts: { "Switch off": "updateSender", "New token…": "regenerateSenderToken", "Delete…": "deleteSender" },
  },
  { path: () => "/keys", acts: { "Create API key…": "createApiKey" } },
  { path: () => "/keys?tab=services", acts: { "Create service account…": "createServiceAccount" } },
  { path: () => "/people?tab=invites", acts: { "Invite…": "createInvite" } },
];

describe("the dashboard's acts by role", () => {
  let browser: Chromium | undefined;
  let receiver: Receiver | undefined;
  let relay: TestRelay | undefined;
  let tenant: Furnished;
  before(async function () {
    browser = await chromiumOrSkip(this, { bypassCSP: false });
    receiver = await startReceiver({ record: false, script: furnishedReceiver() });
    relay = await startTestRelay(receiver, { RELAY_RETRY_SCHEDULE: "100ms" });
    tenant = await furnish(relay.url, `https://127.0.0.1:${receiver.port}`, { events: 2 });
  });
  after(async () => {
    await browser?.close();
    await relay?.close();
    await receiver?.close();
  });

  for (const [role, code] of [["Viewer", 20], ["Developer", 0], ["Admin", 1], ["Owner", 10]] as const) {
    it(`are for the ${role} those of me.operations, no more and no less`, async () => {
      const login = { email: `${role.toLowerCase()}@roles.example`, password: tenant.password };
      // A try after a failed one finds the user there.
      await tenant.owner.createUser({ ...login, role: code }).catch(() => undefined);
      const { accessToken } = await createClient({ url: relay!.url }).login(login);
      const me = await createClient({ url: relay!.url, token: accessToken }).getMe();
      expect(me.role).to.equal(role);
      await browser!.context.clearCookies();
      const seen = await visit(browser!, relay!.url.replace("127.0.0.1", "localhost"));
      const { page } = seen;
      await seen.go("/login");
      await signIn(seen, login);
      const shown: string[] = [];
      const allowed: string[] = [];
      for (const { path, acts } of pages) {
        const at = path(tenant);
        await seen.go(at);
        await page.locator("h1").first().waitFor();
        const loading = page.locator(".loading");
        while (await loading.count() > 0) await loading.first().waitFor({ state: "detached" });
        for (const [act, operation] of Object.entries(acts)) {
          const control = page.getByRole("button", { name: act, exact: true }).first();
          if (me.operations.includes(operation)) {
            await control.waitFor();
            allowed.push(`${at}: ${act}`);
          }
          if (await control.count() > 0) shown.push(`${at}: ${act}`);
        }
      }
      expect(shown).to.deep.equal(allowed);
      seen.expectNoFault();
      await seen.close();
    });
  }
});
