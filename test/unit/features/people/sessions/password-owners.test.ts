import { expect } from "chai";
import { addressOwner, tenantOwner } from "../../../../../src/kernel/ports/passwords.ts";
import { createTenant, createUser, freshEmail, password, unique } from "../../../../support/accounts.ts";
import { startApi } from "../../../../support/api.ts";
import { inMemoryEngines } from "../../../../support/api-engines.ts";
import { http } from "../../../../support/http.ts";

describe("the owners of passwords", () => {
  it("are each address of IPv4, and each /64 of IPv6", () => {
    for (const [address, owner] of [
      ["192.0.2.1", "192.0.2.1"],
      ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
      ["2001:db8:1:2::", "2001:db8:1:2::/64"],
      ["2001:db8:1:2::6", "2001:db8:1:2::/64"],
      ["2001:db8::6", "2001:db8:0:0::/64"],
      ["2001::3:4:5:6:7:8", "2001:0:3:4::/64"],
      ["::2:3:4:5:6:7:8", "0:2:3:4::/64"],
      ["::1", "0:0:0:0::/64"],
      ["::", "0:0:0:0::/64"],
      ["::ffff:192.0.2.1", "192.0.2.1"],
      ["", ""],
    ] as const) {
      expect(addressOwner(address), address).to.equal(`address:${owner}`);
    }
  });

  it("differ between a tenant and an address of the same text", () => {
    expect(tenantOwner("192.0.2.1")).to.not.equal(addressOwner("192.0.2.1"));
  });

  it("are the tenant of a signed-in caller, or else the caller's address", async () => {
    const engines = await inMemoryEngines();
    const api = await startApi(engines, { trustedProxies: 1 });
    const { tenantId, owner: { client } } = await createTenant(api.url);
    const viewer = await createUser(client, "viewer");
    const { inviteToken } = (await client.post("/api/v1/invites", { email: freshEmail(), role: 0 })).json;
    const { passwords } = api.world;
    const [matches, hash] = [passwords.matches.bind(passwords), passwords.hash.bind(passwords)];
    const owners: string[] = [];
    const noted = (owner: string) => {
      owners.push(owner);
      return owner;
    };
    passwords.matches = (text, hashed, owner) => matches(text, hashed, noted(owner));
    passwords.hash = (text, owner) => hash(text, noted(owner));
    const post = (path: string, json: object) =>
      http("POST", `${api.url}/api/v1/${path}`, { json, headers: { "x-forwarded-for": "203.0.113.7" } });
    const ownersOf = async (asked: Promise<{ readonly status: number }>) => {
      expect((await asked).status).to.be.below(300);
      return owners.splice(0);
    };
    const [address, tenant] = [addressOwner("203.0.113.7"), tenantOwner(tenantId)];
    const another = { name: unique("T"), ownerEmail: freshEmail(), ownerPassword: password };
    expect(await ownersOf(post("tenants", another))).to.deep.equal([address]);
    expect(await ownersOf(post("auth/login", { email: viewer.email, password }))).to.deep.equal([address]);
    expect(await ownersOf(post(`invites/${String(inviteToken)}/register`, { password }))).to.deep.equal([address]);
    const asUser = { email: freshEmail(), password };
    expect(await ownersOf(client.post("/api/v1/users", asUser))).to.deep.equal([tenant]);
    const changed = client.patch(`/api/v1/users/${viewer.id}`, { password: `new ${password}` });
    expect(await ownersOf(changed)).to.deep.equal([tenant, tenant]);
    await api.close();
    await engines.close();
  });
});
