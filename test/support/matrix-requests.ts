import {
  createUser, freshEmail, openIngest, password, roleCodes, unique, type Account, type Client,
} from "./accounts.ts";
import { relayClient } from "./api-client.ts";
import {
  acceptedEvent, freshInvite, givenUpEvent, goodRequests, type GoodRequest, type Scene,
} from "./good-requests.ts";

/** The caller, and the tenant it belongs to. */
export interface Asker {
  readonly role: keyof typeof roleCodes;
  readonly id: string;
  readonly client: Client;
  readonly account: Account;
}

/** A request of the matrix; `query` goes with it. */
export interface MatrixRequest extends GoodRequest {
  readonly query?: string;
}

type Make = (scene: Scene, asker: Asker) => MatrixRequest | Promise<MatrixRequest>;

const changeOf = (role: keyof typeof roleCodes, json: () => object): Make => async ({ one }) => ({
  params: { id: (await createUser(one.owner.client, role)).id },
  json: json(),
});
const itself = (json: () => object): Make => (_scene, { id }) => ({ params: { id }, json: json() });
const newUser = (role: keyof typeof roleCodes): Make => () => ({
  json: { email: freshEmail(), password, role: roleCodes[role] },
});
const newInvite = (role: keyof typeof roleCodes): Make => () => ({
  json: { email: freshEmail(), role: roleCodes[role] },
});
const deletionOf = (role: keyof typeof roleCodes): Make => async ({ one }) => ({
  params: { id: (await createUser(one.owner.client, role)).id },
});
const ofAnothersDestination: Make = async ({ one, other }, { account }) => ({
  query: `?DestinationUrlId=${await destinationOf(account === one ? other : one)}`,
});
/** A view of the asker; for one of the other tenant that of a person of the first. */
const ownView = async ({ one }: Scene, { account, client }: Asker): Promise<MatrixRequest> => {
  const { api } = account === one ? client : one.owner.client;
  return { params: { id: (await api.createView({ name: "Given up", page: "events", query: "" })).id } };
};
const nobodys = "0193a1b2-0000-7000-8000-00000000ffff";

/** Other requests of an operation than its good one, by the words of the matrix. */
const variants: Readonly<Record<string, Make>> = {
  "updateTenant for how long events are kept": ({ one }) => ({
    params: { id: one.tenantId }, json: { retentionDays: 9 },
  }),
  "createUser a Viewer": newUser("viewer"),
  "createUser a Developer": newUser("developer"),
  "createUser an Admin": newUser("admin"),
  "createUser an Owner": newUser("owner"),
  "updateUser its own email": itself(() => ({ email: freshEmail() })),
  "updateUser its own password": itself(() => ({ password: "another good password" })),
  "updateUser its own role, to Viewer": itself(() => ({ role: roleCodes.viewer })),
  "updateUser its own role, to Owner": itself(() => ({ role: roleCodes.owner })),
  "updateUser its own status": itself(() => ({ status: 1 })),
  "updateUser a Developer, nothing of it": changeOf("developer", () => ({})),
  "updateUser a Developer's role, to Admin": changeOf("developer", () => ({ role: roleCodes.admin })),
  "updateUser a Viewer's password": changeOf("viewer", () => ({ password: "another good password" })),
  "updateUser a Viewer's status": changeOf("viewer", () => ({ status: 1 })),
  "updateUser a Viewer's role, to Developer": changeOf("viewer", () => ({ role: roleCodes.developer })),
  "updateUser a Viewer's role, to Owner": changeOf("viewer", () => ({ role: roleCodes.owner })),
  "updateUser an Admin's email": changeOf("admin", () => ({ email: freshEmail() })),
  "updateUser an Admin's role, to Developer": changeOf("admin", () => ({ role: roleCodes.developer })),
  "updateUser an Owner's email": changeOf("owner", () => ({ email: freshEmail() })),
  "updateUser an Owner's password": changeOf("owner", () => ({ password: "another good password" })),
  "updateUser an Owner's status": changeOf("owner", () => ({ status: 1 })),
  "updateUser an Owner's role, to Viewer": changeOf("owner", () => ({ role: roleCodes.viewer })),
  "deleteUser an Admin": deletionOf("admin"),
  "deleteUser an Owner": deletionOf("owner"),
  "deleteUser itself": (_scene, { id }) => ({ params: { id } }),
  "createInvite for a Viewer": newInvite("viewer"),
  "createInvite for an Admin": newInvite("admin"),
  "createInvite for an Owner": newInvite("owner"),
  "register with nobody's token": () => ({ params: { token: "inv_nobodys" }, json: { password } }),
  "register with a revoked token": async (scene) => {
    const { id, inviteToken } = await freshInvite(scene);
    await scene.one.owner.client.api.revokeInvite({ id });
    return { params: { token: inviteToken }, json: { password } };
  },
  updateView: async (scene, asker) => ({ ...(await ownView(scene, asker)), json: { name: "Waiting" } }),
  deleteView: (scene, asker) => ownView(scene, asker),
  "createPortalLink for a destination": ({ ingest }) => ({
    json: { destinationUrlIds: [ingest.destinationId], may: ["read"] },
  }),
  "updateDestination to inactive": async ({ one }) => {
    return { params: { id: (await newDestination(one)).id }, json: { status: "inactive" } };
  },
  "updateSender to another tenant's destination": async ({ one, other }, { account }) => ({
    params: { id: await senderOf(account) },
    json: { destinationUrlId: await destinationOf(one === account ? other : one) },
  }),
  "updateSender to nobody's destination": async (_scene, { account }) => ({
    params: { id: await senderOf(account) }, json: { destinationUrlId: nobodys },
  }),
  "listEvents of another tenant's destination": ofAnothersDestination,
  "listEvents of nobody's destination": () => ({ query: `?DestinationUrlId=${nobodys}` }),
  "listEvents by another tenant's key": async ({ api, one, other }, { account }) => {
    const { owner, tenantId } = account === one ? other : one;
    const { ingestToken: token, apiKey } = await openIngest(owner.client, tenantId);
    const key = unique("order");
    await relayClient(api.url, { apiKey }).ingest({ tenantId, token, "X-Idempotency-Key": key }, {});
    return { query: `?IdempotencyKey=${key}` };
  },
  "listAudit of another tenant": ({ one, other }, { account }) => ({
    query: `?SubjectId=${(account === one ? other : one).tenantId}`,
  }),
  "listAudit of another tenant's Owner": ({ one, other }, { account }) => ({
    query: `?ActorId=${(account === one ? other : one).owner.id}`,
  }),
  "countEvents of another tenant's destination": ofAnothersDestination,
  "exportEvents of another's destination": ofAnothersDestination,
  "followStream of another's destination": ofAnothersDestination,
  "replayEvents as a dry run": async (scene) => {
    await givenUpEvent(scene);
    return { json: { dryRun: true } };
  },
  "replayEvents of one destination": async (scene) => {
    await givenUpEvent(scene);
    return { json: { destinationUrlId: scene.ingest.destinationId } };
  },
  "orderReplay as a dry run": async (scene) => {
    await givenUpEvent(scene);
    return { json: { dryRun: true } };
  },
  "orderReplay of one destination, dry": async (scene) => {
    await givenUpEvent(scene);
    return { json: { destinationUrlId: scene.ingest.destinationId, dryRun: true } };
  },
  "orderReplay to a destination": ({ ingest }) => ({ json: { toDestinationUrlId: ingest.destinationId } }),
  "cancelEvents as a dry run": async (scene) => {
    await acceptedEvent(scene);
    return { json: { dryRun: true } };
  },
  "cancelEvents of one destination": async (scene) => {
    await acceptedEvent(scene);
    return { json: { destinationUrlId: scene.ingest.destinationId } };
  },
  "purgeEvents as a dry run": async (scene) => {
    await givenUpEvent(scene);
    return { json: { dryRun: true } };
  },
  "purgeEvents of one destination": async (scene) => {
    await givenUpEvent(scene);
    return { json: { destinationUrlId: scene.ingest.destinationId } };
  },
};

/** The request of a row: the operation's own, or the variant that the words name. */
export async function requestOf(row: string, scene: Scene, asker: Asker): Promise<MatrixRequest> {
  const make: Make | undefined = variants[row] ?? goodRequests[row];
  if (!make) throw new Error(`no request for the row ${row}`);
  return make(scene, asker);
}

/** The same request about an id that exists nowhere. */
export function aboutNobodys(request: MatrixRequest): MatrixRequest {
  const { params, json } = request;
  const named = json && Object.fromEntries(Object.entries(json).map(([name, value]: [string, unknown]) =>
    [name, /^(destinationUrlId|toDestinationUrlId)$/.test(name) ? nobodys
      : name === "destinationUrlIds" ? [nobodys] : value]));
  return { ...request, ...(params && { params: { ...params, id: nobodys } }), ...(named && { json: named }) };
}

/** Somebody of that role and tenant whom no other request uses. */
export async function freshAsker(account: Account, role: Asker["role"]): Promise<Asker> {
  return { ...(await createUser(account.owner.client, role)), role, account };
}

function newDestination({ owner }: Account) {
  return owner.client.api.createDestination({ url: "https://receiver.example/hook" });
}

async function destinationOf(account: Account): Promise<string> {
  return (await newDestination(account)).id;
}

async function senderOf(account: Account): Promise<string> {
  const made = { name: "Shop", destinationUrlId: await destinationOf(account) };
  return (await account.owner.client.api.createSender(made)).id;
}
