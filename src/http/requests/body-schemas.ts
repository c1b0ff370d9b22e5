import authentication from "../../../schemas/requests/authentication.json" with { type: "json" };
import cancelEvents from "../../../schemas/requests/cancel-events.json" with { type: "json" };
import createApiKey from "../../../schemas/requests/create-api-key.json" with { type: "json" };
import createDestination from "../../../schemas/requests/create-destination.json" with { type: "json" };
import createInvite from "../../../schemas/requests/create-invite.json" with { type: "json" };
import createSender from "../../../schemas/requests/create-sender.json" with { type: "json" };
import createServiceAccount from "../../../schemas/requests/create-service-account.json" with { type: "json" };
import createServiceKey from "../../../schemas/requests/create-service-key.json" with { type: "json" };
import createTenant from "../../../schemas/requests/create-tenant.json" with { type: "json" };
import createUser from "../../../schemas/requests/create-user.json" with { type: "json" };
import login from "../../../schemas/requests/login.json" with { type: "json" };
import orderReplay from "../../../schemas/requests/order-replay.json" with { type: "json" };
import purgeEvents from "../../../schemas/requests/purge-events.json" with { type: "json" };
import register from "../../../schemas/requests/register.json" with { type: "json" };
import replayEvents from "../../../schemas/requests/replay-events.json" with { type: "json" };
import testDestination from "../../../schemas/requests/test-destination.json" with { type: "json" };
import testMapping from "../../../schemas/requests/test-mapping.json" with { type: "json" };
import tryMapping from "../../../schemas/requests/try-mapping.json" with { type: "json" };
import updateDestination from "../../../schemas/requests/update-destination.json" with { type: "json" };
import updateSender from "../../../schemas/requests/update-sender.json" with { type: "json" };
import updateServiceAccount from "../../../schemas/requests/update-service-account.json" with { type: "json" };
import updateTenant from "../../../schemas/requests/update-tenant.json" with { type: "json" };
import updateUser from "../../../schemas/requests/update-user.json" with { type: "json" };
import verifySignature from "../../../schemas/requests/verify-signature.json" with { type: "json" };
import type { NewApiKey } from "../../application/commands/api-keys.ts";
import type { BulkCancelInput } from "../../application/commands/bulk-cancel.ts";
import type { BulkReplayInput } from "../../application/commands/bulk-replay.ts";
import type { DestinationChange, NewDestination } from "../../application/commands/destinations.ts";
import type { NewInvite } from "../../application/commands/invites.ts";
import type { PurgeInput } from "../../application/commands/purge.ts";
import type { ReplayInput } from "../../application/commands/replays.ts";
import type { NewSender, SenderChange } from "../../application/commands/senders.ts";
import type {
  NewServiceAccount, NewServiceKey, ServiceAccountChange,
} from "../../application/commands/service-accounts.ts";
import type { NewTenant, TenantChange } from "../../application/commands/tenants.ts";
import type { NewUser, UserChange } from "../../application/commands/users.ts";
import { rolesByCode } from "../../domain/roles.ts";
import type { Mapping } from "../../domain/sender/events.ts";
import { statusesByCode } from "../../domain/tenant/events.ts";
import { bodyReader } from "./body-reader.ts";
import { extended } from "./extended.ts";
import { optionalPayloadReader, payloadReader } from "./payload-reader.ts";
import { withSynonyms } from "./synonyms.ts";

/** Of service accounts: a role by its name, as answers have it, and a status by the code that a user has. */
const spellings = {
  role: Object.fromEntries(Object.entries(rolesByCode).map(([code, role]) => [role, Number(code)])),
  status: Object.fromEntries(Object.entries(statusesByCode).map(([code, status]) => [code, status.toLowerCase()])),
};

/** The readers of request bodies. */
export const bodies = {
  createTenant: bodyReader<NewTenant>(createTenant),
  updateTenant: bodyReader<TenantChange>(updateTenant),
  verifySignature: bodyReader<{ readonly payload: string; readonly signature: string }>(verifySignature),
  createUser: bodyReader<NewUser>(createUser),
  updateUser: bodyReader<UserChange>(updateUser),
  createDestination: bodyReader<NewDestination>(extended(createDestination, authentication)),
  updateDestination: bodyReader<DestinationChange>(extended(updateDestination, authentication)),
  testDestination: optionalPayloadReader(
    bodyReader<{ readonly eventType?: string; readonly payload?: unknown }>(testDestination)),
  createSender: bodyReader<NewSender>(createSender),
  updateSender: bodyReader<SenderChange>(updateSender),
  testMapping: payloadReader(bodyReader<{ readonly payload: unknown }>(testMapping)),
  tryMapping: payloadReader(bodyReader<{ readonly mapping: Mapping; readonly payload: unknown }>(tryMapping)),
  login: bodyReader<{ readonly email: string; readonly password: string }>(login),
  createInvite: bodyReader<NewInvite>(createInvite),
  register: bodyReader<{ readonly password: string }>(register),
  replayEvents: bodyReader<BulkReplayInput>(replayEvents),
  cancelEvents: bodyReader<BulkCancelInput>(cancelEvents),
  purgeEvents: bodyReader<PurgeInput>(purgeEvents),
  orderReplay: bodyReader<ReplayInput>(orderReplay),
  createApiKey: bodyReader<NewApiKey>(createApiKey),
  createServiceAccount: withSynonyms(bodyReader<NewServiceAccount>(createServiceAccount), spellings),
  updateServiceAccount: withSynonyms(bodyReader<ServiceAccountChange>(updateServiceAccount), spellings),
  createServiceKey: bodyReader<NewServiceKey>(createServiceKey),
} as const;
