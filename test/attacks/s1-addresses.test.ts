import { expect } from "chai";
import { startTestRelay, openAccount, type Account, type TestRelay } from "../support/relay.ts";

/** Names of this machine, its network, or a cloud's metadata, most of them in unusual notation. */
const refused = [
  "127.0.0.1", "127.1", "0x7f.1", "0x7f000001", "2130706433", "0177.0.0.1", "017700000001", "127.0.0.1.", "0",
  "0.0.0.0", "１２７.０.０.１", "127。0。0。1", "%31%32%37.0.0.1", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "10.0.0.1",
  "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "198.18.0.1", "192.0.2.1", "224.0.0.1",
  "255.255.255.255", "169.254.169.254",
  "0xa9fea9fe", "[::ffff:169.254.169.254]", "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]", "[2001:db8::1]",
  "100.100.100.200", "168.63.129.16",
];
const allowed = [
  "8.8.8.8", "1.1.1.1", "134744072", "0x08080808", "[2606:4700:4700::1111]", "[::ffff:8.8.8.8]", "receiver.example",
  "127.0.0.1.example", "localhost.example",
];
/** Malformed URLs, other schemes, and URLs with a user or password. */
const malformed = [
  "http://8.8.8.8/", "ftp://8.8.8.8/", "https://", "8.8.8.8", "https://user@8.8.8.8/",
  "https://user:password@8.8.8.8/", "https://:@127.0.0.1/", "file:///etc/passwd", "javascript:alert(1)",
  "https://8.8.8.8:0x50/", "https://[::1", "https://8.8.8.8 .example/", "",
];

const ways: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ["calling directly", {}], ["calling through a proxy", { RELAY_OUTBOUND_PROXY: "http://127.0.0.1:9" }],
];

for (const [way, env] of ways) {
  describe(`S1 addresses given to a running relay, ${way}`, () => {
    let relay: TestRelay;
    let account: Account;
    let id: string;
    before(async () => {
      relay = await startTestRelay(null, env);
      account = await openAccount(relay.url);
      ({ id } = await account.destination({ url: "https://receiver.example/" }));
    });
    after(() => relay.close());

    const send = async (method: string, path: string, json: object) => {
      const headers = { ...account.owner.headers, "content-type": "application/json" };
      return (await fetch(relay.url + path, { method, headers, body: JSON.stringify(json) })).status;
    };
    const grant = (tokenEndpoint: string) => ({
      authType: "JwtBearer", credentials: { tokenEndpoint, clientId: "a", clientSecret: "b" },
    });
    /** The status of every request that takes a URL. */
    const givenTo = async (url: string) => [
      await send("POST", "/api/v1/destinations", { url }),
      await send("PATCH", `/api/v1/destinations/${id}`, { url }),
      await send("POST", "/api/v1/destinations", { url: "https://receiver.example/", ...grant(url) }),
      await send("PATCH", `/api/v1/destinations/${id}`, grant(url)),
    ];

    it("are refused in every spelling, by every request that takes a URL, and none is stored", async () => {
      for (const host of refused) {
        for (const url of [`https://${host}/hook`, `HTTPS://${host}:8443/`]) {
          expect(await givenTo(url), url).to.deep.equal([400, 400, 400, 400]);
        }
      }
      for (const url of malformed) expect(await givenTo(url), url).to.deep.equal([400, 400, 400, 400]);
      const { items } = (await account.owner.get("/api/v1/destinations")) as { items: { url: string }[] };
      expect(items.map(({ url }) => url)).to.deep.equal(["https://receiver.example/"]);
    });

    it("are accepted if they are public", async () => {
      for (const host of allowed) {
        expect(await givenTo(`https://${host}/hook`), host).to.deep.equal([201, 200, 201, 200]);
      }
    });
  });
}
