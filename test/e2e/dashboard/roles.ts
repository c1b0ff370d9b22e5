import { expect } from "chai";
import { createClient, type OperationId } from "../../../packages/client/src/index.ts";
import { dashboardStage, signIn } from "../../support/dashboard.ts";
import { furnish, furnishedReceiver, type Furnished } from "../../support/furnished-tenant.ts";

/** A page, and its acts by their names: each is there exactly for callers with the right to call the operation. */
interface ActsOfPage {
  readonly path: (tenant: Furnished) => string;
  readonly acts: Readonly<Record<string, OperationId>>;
}

const pages: readonly ActsOfPage[] = [
  {
    path: () => "/events",
    acts: { "Replay all…": "orderReplay", "Cancel all…": "cancelEvents" },
  },
  { path: ({ events }) => `/events/${events.delivered}`, acts: { "Resend…": "resendEvent" } },
  { path: ({ events }) => `/events/${events.held}`, acts: { "Cancel event…": "cancelEvent" } },
  { path: () => "/destinations", acts: { "New destination…": "createDestination" } },
  {
    path: ({ destinationId }) => `/destinations/${destinationId}`,
    acts: {
      "Send test event…": "testDestination", "Switch off…": "updateDestination",
      "New ingest token…": "regenerateDestinationToken", "Delete…": "deleteDestination",
    },
  },
  {
    path: ({ destinationId }) => `/destinations/${destinationId}?tab=subscriptions`,
    acts: { "New subscription…": "createSubscription" },
  },
  { path: () => "/senders", acts: { "New sender…": "createSender" } },
  {
    path: ({ senderId }) => `/senders/${senderId}`,
    acts: { "Switch off…": "updateSender", "New token…": "regenerateSenderToken", "Delete…": "deleteSender" },
  },
  { path: ({ fanOutSenderId }) => `/senders/${fanOutSenderId}`, acts: { "New subscription…": "createSubscription" } },
  { path: () => "/settings?tab=portal", acts: { "New portal link…": "createPortalLink" } },
  { path: () => "/settings?tab=notifications", acts: { "New subscription…": "createNotificationSubscription" } },
  {
    path: ({ destinationId }) => `/destinations/${destinationId}?tab=settings`,
    acts: {
      "Show the secret": "getSigningSecret", "Make a new secret…": "replaceSigningSecret",
      "End older secrets now…": "expireSigningSecrets", "Remove the secret…": "removeSigningSecret",
      "Make another key…": "replaceSigningKey", "Remove the key…": "removeSigningKey",
    },
  },
  { path: () => "/keys", acts: { "Create API key…": "createApiKey" } },
  { path: () => "/keys?tab=services", acts: { "Create service account…": "createServiceAccount" } },
  { path: () => "/keys?tab=check", acts: { "Check the signature": "verifySignature" } },
  { path: () => "/people?tab=invites", acts: { "Invite…": "createInvite" } },
  { path: () => "/start", acts: { Verify: "verifySignature" } },
];

/** The tests of a suite: the acts of persons with each of these roles; the codes are those of requests. */
export function actsByRole(roles: Readonly<Record<string, 0 | 1 | 10 | 20>>): void {
  const stage = dashboardStage({
    receiver: { record: false, script: furnishedReceiver() }, env: { RELAY_RETRY_SCHEDULE: "100ms" },
  });
  let tenant: Furnished;
  before(async () => {
    tenant = await furnish(stage.relay.url, `https://127.0.0.1:${stage.receiver.port}`, { events: 2 });
  });

  for (const [role, code] of Object.entries(roles)) {
    it(`are for the ${role} those of me.operations, no more and no less`, async () => {
      const login = { email: `${role.toLowerCase()}@roles.example`, password: tenant.password };
      // A try after a failed one finds the user there.
      await tenant.owner.createUser({ ...login, role: code }).catch(() => undefined);
      const { accessToken } = await createClient({ url: stage.relay.url }).login(login);
      const me = await createClient({ url: stage.relay.url, token: accessToken }).getMe();
      expect(me.role).to.equal(role);
      const seen = await stage.visit();
      const { page } = seen;
      await seen.go("/login");
      await signIn(seen, login);
      const shown: string[] = [];
      const allowed: string[] = [];
      for (const { path, acts } of pages) {
        const at = path(tenant);
        await seen.go(at);
        await seen.loaded();
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
    });
  }
}
