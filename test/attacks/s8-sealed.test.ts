import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { verify } from "../../src/kernel/tools/signature.ts";
import { text } from "../support/api-client.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventually, openAccount, type Account } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { sized } from "../support/size.ts";

const perKind = sized(3, 40);

/** The type of fact and the field of a sealed value. */
type Field = readonly [type: string, field: "webhookSecret" | "credentials" | "dataKey" | "email" | "key"];

interface Victim extends Account {
  readonly kind: string;
  readonly token: string;
  readonly destinationId: string;
}

/** Changes the sealed value of one tenant; `others`: the same value of another. */
type Deed = (sealed: string, others: string, turn: number) => string;
const flipped: Deed = (sealed, _others, turn) => {
  const at = sealed.lastIndexOf(".") + 1;
  const box = Buffer.from(sealed.slice(at), "base64url");
  const bit = (turn * 7919) % (box.length * 8);
  box[bit >> 3] = (box[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return sealed.slice(0, at) + box.toString("base64url");
};
const swapped: Deed = (_sealed, others) => others;
const cut: Deed = (sealed, _others, turn) => sealed.slice(0, -4 * ((turn % 5) + 1));
const renamed: Deed = (sealed) => sealed.replace(/^w1\.(.)/, (_all, first) => `w1.${first === "0" ? "1" : "0"}`);

const secret: Field = ["TenantCreated", "webhookSecret"];
const credentials: Field = ["DestinationAuthConfigured", "credentials"];
const dataKey: Field = ["TenantCreated", "dataKey"];
const email: Field = ["UserCreated", "email"];
const personKey: Field = ["PersonKeyCreated", "key"];
/** Under the same key, so that only the place reveals the move. */
const ownOther = "credentials, those of another destination of the tenant";
const attacks: Readonly<Record<string, readonly [Field, Deed]>> = {
  "webhook secret, a bit flipped": [secret, flipped],
  "webhook secret, another tenant's": [secret, swapped],
  "webhook secret, cut": [secret, cut],
  "credentials, a bit flipped": [credentials, flipped],
  "credentials, another tenant's": [credentials, swapped],
  [ownOther]: [credentials, swapped],
  "data key, a bit flipped": [dataKey, flipped],
  "data key, another tenant's": [dataKey, swapped],
  "data key, under another master key's name": [dataKey, renamed],
  "email, a bit flipped": [email, flipped],
  "email, another tenant's": [email, swapped],
  "person's key, a bit flipped": [personKey, flipped],
  "person's key, another tenant's": [personKey, swapped],
};

describe("S8 sealed values, changed and moved in the log of a relay", () => {
  let receiver: Receiver;
  let relay: RelayProcess;
  let victims: Victim[];
  /** The id of the event that each victim posted after the change of the log. */
  let posted: Map<Victim, string>;
  before(async function () {
    this.timeout(sized(120_000, 900_000));
    receiver = await startReceiver();
    relay = await RelayProcess.start(receiver);
    victims = [];
    for (const kind of ["untouched", ...Object.keys(attacks)]) {
      for (let n = 0; n < perKind; n += 1) victims.push(await openVictim(kind));
    }
    await relay.sigterm();
    spoil();
    const rebuilt = await relay.command("rebuild");
    expect(rebuilt.code, rebuilt.stderr).to.equal(0);
    await relay.start();
    posted = new Map();
    for (const victim of victims) posted.set(victim, await post(victim));
  });
  after(async () => {
    await relay.close();
    await receiver.close();
  });

  /** A tenant with two destinations with credentials, and an event delivered to the first. */
  const openVictim = async (kind: string): Promise<Victim> => {
    const account = await openAccount(relay.url);
    const token = `bearer-${randomBytes(12).toString("hex")}`;
    const url = receiver.url(`/${account.tenantId}`);
    const auth = { authType: "BearerToken", credentials: { token } };
    const { id, ingest } = await account.destination({ url });
    await account.owner.patch(`/api/v1/destinations/${id}`, auth);
    const second = await account.destination({ url });
    const others = { authType: "BearerToken", credentials: { token: `other-${token}` } };
    await account.owner.patch(`/api/v1/destinations/${second.id}`, others);
    await account.producer.post(ingest, { kind });
    await receiver.waitFor(() => receiver.requestsTo(`/${account.tenantId}`).length === 1);
    return { ...account, kind, token, destinationId: id };
  };

  /** Changes the log file as an attacker with access to the disk could. */
  const spoil = (): void => {
    const database = new DatabaseSync(join(relay.dataDir, "log.db"));
    const rowOf = (tenantId: string, type: string, order: "ASC" | "DESC" = "ASC") => {
      const sql = `SELECT sequence, data FROM log WHERE type = ? AND data LIKE ? ORDER BY sequence ${order} LIMIT 1`;
      const row = database.prepare(sql).get(type, `%${tenantId}%`) ?? expect.fail(`no ${type} of ${tenantId}`);
      return { sequence: row["sequence"] as number, data: row["data"] as string };
    };
    const changes = Object.entries(attacks).flatMap(([kind, [[type, field], deed]]) => {
      const concerned = victims.filter((victim) => victim.kind === kind);
      const rows = concerned.map(({ tenantId }) => rowOf(tenantId, type));
      return rows.map(({ sequence, data }, turn) => {
        const next = concerned[kind === ownOther ? turn : (turn + 1) % rows.length] ?? expect.fail();
        const others = rowOf(next.tenantId, type, kind === ownOther ? "DESC" : "ASC");
        const sealedIn = (text: string) => new RegExp(`"${field}":"([^"]+)"`).exec(text)?.[1] ?? expect.fail(text);
        const sealed = sealedIn(data);
        const changed = deed(sealed, sealedIn(others.data), turn);
        expect(changed, kind).to.not.equal(sealed);
        return { sequence, data: data.replace(sealed, changed) };
      });
    });
    const update = database.prepare("UPDATE log SET data = ? WHERE sequence = ?");
    for (const { sequence, data } of changes) update.run(data, sequence);
    database.close();
  };
  const post = async ({ owner, producer, destinationId, tenantId }: Victim): Promise<string> => {
    const renewed = await relay.at(owner).post(`/api/v1/destinations/${destinationId}/ingest-token`, {});
    const path = `/api/v1/ingest/${tenantId}/${text(renewed, "ingestToken")}`;
    return text(await relay.at(producer).post(path, { again: true }), "eventId");
  };
  const get = async ({ owner }: Account, path: string) => {
    const answer = await fetch(relay.url + path, { headers: { ...owner.headers } });
    return { status: answer.status, text: await answer.text() };
  };
  const touches = (kind: string, ...words: readonly string[]) => words.some((word) => kind.startsWith(word));

  it("are never accepted; all other tenants go on, after a rebuild too", async function () {
    this.timeout(sized(120_000, 900_000));
    const [known, emails] = [victims.map(({ webhookSecret }) => webhookSecret), victims.map((victim) => victim.email)];
    for (const victim of victims) {
      const { kind, tenantId, webhookSecret } = victim;
      const answered = await get(victim, `/api/v1/tenants/${tenantId}/webhook-secret`);
      if (touches(kind, "webhook secret", "data key")) {
        expect(answered.status, kind).to.be.within(500, 503);
        for (const one of known) expect(answered.text).to.not.include(one);
      } else expect(JSON.parse(answered.text), kind).to.deep.equal({ webhookSecret });

      const users = await get(victim, "/api/v1/users");
      expect(users.status, kind).to.equal(200);
      for (const one of emails) {
        const may = one === victim.email && !touches(kind, "email", "person", "data key");
        expect(users.text.includes(one), `${kind}: ${one}`).to.equal(may);
      }
    }
  });

  it("sign and authenticate nothing", async function () {
    this.timeout(sized(120_000, 900_000));
    const finished = ["Succeeded", "CriticalFailure", "WaitingRetry"];
    for (const [{ kind, tenantId, token, webhookSecret, owner }, eventId] of posted) {
      const path = `/api/v1/events/${eventId}`;
      await eventually(() => relay.at(owner).get(path), ({ status }) => finished.includes(String(status)), 30_000);
      const requests = receiver.requestsTo(`/${tenantId}`).filter(({ headers }) => headers["webhook-id"] === eventId);
      if (touches(kind, "webhook secret", "credentials", "data key")) {
        expect(requests, kind).to.deep.equal([]);
        const attempts = await relay.at(owner).get(`${path}/attempts`);
        expect(JSON.stringify(attempts), kind).to.include("cannot be opened");
        continue;
      }
      const [request] = requests;
      expect(requests.length, kind).to.equal(1);
      expect(request?.headers.authorization, kind).to.equal(`Bearer ${token}`);
      const signature = String(request?.headers["x-service-signature"]);
      expect(verify(webhookSecret, String(request?.body), signature), kind).to.equal(true);
    }
  });
});
