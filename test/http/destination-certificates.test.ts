import { generateKeyPairSync } from "node:crypto";
import { expect } from "chai";
import { destinations } from "../../src/features/destinations/facts.ts";
import { tenants } from "../../src/features/tenants/facts.ts";
import { type Account } from "../support/accounts.ts";
import type { TestApi } from "../support/api.ts";
import { describeOnEngines } from "../support/api-engines.ts";
import { apiStage } from "../support/api-stage.ts";
import { certificatesOf } from "../support/certificates.ts";
import { shaped } from "../support/http.ts";
import { makeAuthority } from "../support/tls.ts";

const url = "https://receiver.example/hook";
const path = (id: unknown, rest = "") => `/api/v1/destinations/${String(id)}${rest}`;
const authority = makeAuthority();
const certificates = certificatesOf(authority);
const pem = (key: ReturnType<typeof generateKeyPairSync>["privateKey"]) =>
  key.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "hush" }).toString();

describeOnEngines("the client certificate of a destination", (freshEngines) => {
  let api: TestApi;
  let one: Account;
  apiStage(freshEngines, (stage) => ({ api, one } = stage));

  const register = (fields: object = {}) => one.developer.client.post("/api/v1/destinations", { url, ...fields });
  const registered = async (fields: object = {}) => String((await register(fields)).json["id"]);
  const change = (id: unknown, fields: object) => one.developer.client.patch(path(id), fields);
  const historyOf = async (id: string) => {
    const { items } = (await one.viewer.client.get(path(id, "/history"))).json as {
      items: readonly { type: string; data: object; changes?: readonly object[] }[];
    };
    return items.filter(({ type }) => type.startsWith("DestinationCertificate"));
  };

  it("is shown in every answer by its fingerprint and its end, null without one, and sealed in the log", async () => {
    const { pair, shown } = certificates();
    const answer = await register({ clientCertificate: pair });
    expect(answer.status).to.equal(201);
    const { ingestToken: _, ...created } = shaped(answer, "created-destination");
    expect(created["clientCertificate"]).to.deep.equal(shown);
    const id = String(created["id"]);
    const read = await one.viewer.client.get(path(id));
    expect(shaped(read, "destination")).to.deep.equal(created);
    const { items } = (await one.viewer.client.get("/api/v1/destinations?Qt=100")).json;
    expect(items).to.deep.include(created);
    const asOf = await one.viewer.client.get(path(id, `?AsOf=${new Date().toISOString()}`));
    expect(asOf.json["clientCertificate"]).to.deep.equal(shown);
    expect((await register()).json).to.deep.include({ clientCertificate: null });
    const { state } = await api.world.aggregates.current(destinations, id);
    const { state: tenant } = await api.world.aggregates.current(tenants, one.tenantId);
    expect(JSON.stringify(state)).not.to.include("BEGIN");
    expect(api.world.vault.clientCertificate(state!, tenant!)).to.deep.equal({
      certificate: pair.certificate, privateKey: pair.privateKey,
    });
  });

  it("is set, replaced and removed, each by a fact that shows the certificates before and after", async () => {
    const [first, second] = [certificates(), certificates()];
    const id = await registered();
    for (const { pair, shown } of [first, second]) {
      expect((await change(id, { clientCertificate: pair })).json["clientCertificate"]).to.deep.equal(shown);
    }
    expect((await change(id, { clientCertificate: second.pair, url })).status).to.equal(200);
    for (let times = 0; times < 2; times += 1) {
      expect((await change(id, { clientCertificate: null })).json["clientCertificate"]).to.equal(null);
    }
    const changes = [[null, first.shown], [first.shown, second.shown], [second.shown, null]].map(([from, to]) =>
      [{ field: "clientCertificate", from, to }]);
    expect((await historyOf(id)).map((item) => item.changes)).to.deep.equal(changes);
    expect(JSON.stringify(await historyOf(id))).not.to.match(/pem|BEGIN/);
  });

  it("is taken with intermediate ones and text around them, and with a key of any usual kind", async () => {
    const { pair, shown } = certificates();
    const certificate = `Bag Attributes\n${pair.certificate}subject=/CN=an authority\n${authority.caPem}`;
    const answer = await register({ clientCertificate: { ...pair, certificate } });
    expect(answer.json["clientCertificate"]).to.deep.equal(shown);
  });

  const { pair } = certificates();
  const expired = certificates(-60_000);
  const { privateKey: locked } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const bad: readonly (readonly [value: unknown, field: string, problem?: string])[] = [
    ["PEM", "clientCertificate"], [[], "clientCertificate"], [{}, "clientCertificate.certificate"],
    [{ certificate: pair.certificate }, "clientCertificate.privateKey"],
    [{ privateKey: pair.privateKey }, "clientCertificate.certificate"],
    [{ ...pair, certificate: 5 }, "clientCertificate.certificate"],
    [{ ...pair, certificate: "" }, "clientCertificate.certificate", "must be a certificate as PEM"],
    [{ ...pair, certificate: pair.privateKey }, "clientCertificate.certificate", "must be a certificate as PEM"],
    [
      { ...pair, certificate: pair.certificate.replace(/\n.{64}/, "\nAAAA") }, "clientCertificate.certificate",
      "must be a certificate as PEM",
    ],
    [{ ...pair, certificate: "x".repeat(65_537) }, "clientCertificate.certificate"],
    [{ ...pair, privateKey: "x".repeat(16_385) }, "clientCertificate.privateKey"],
    [{ ...pair, privateKey: "" }, "clientCertificate.privateKey", "must be a private key as PEM"],
    [{ ...pair, privateKey: pair.certificate }, "clientCertificate.privateKey", "must be a private key as PEM"],
    [{ ...pair, privateKey: pem(locked) }, "clientCertificate.privateKey", "without a passphrase"],
    [{ ...pair, privateKey: certificates().pair.privateKey }, "clientCertificate.privateKey", "does not belong"],
    [
      { ...pair, certificate: authority.caPem + pair.certificate }, "clientCertificate.privateKey", "does not belong",
    ],
    [expired.pair, "clientCertificate.certificate", `expired at ${expired.shown.notAfter}`],
  ];
  it("is 400 where it is none, over, or of another key, naming the field", async () => {
    const id = await registered();
    for (const [value, field, problem = ""] of bad) {
      const fields = { clientCertificate: value };
      for (const answer of [await register(fields), await change(id, fields)]) {
        expect(answer.status, `${field} ${problem}`).to.equal(400);
        expect(answer.text).to.match(new RegExp(`^"?${field.replaceAll(".", "\\.")}:`));
        expect(answer.text).to.include(problem);
        expect(answer.text).not.to.match(/BEGIN|MIG/);
      }
    }
    expect(await historyOf(id)).to.deep.equal([]);
  });
});
