import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { rootCertificates } from "node:tls";
import { expect } from "chai";
import { createAddressRules } from "../../../../src/engines/outbound/address-rules.ts";
import type { RetryPolicy } from "../../../../src/features/events/decide.ts";
import type { RateLimit } from "../../../../src/kernel/ports/expiring-state.ts";
import { configWarnings, readConfig, type Config } from "../../../../src/main/config/config.ts";
import { ConfigError } from "../../../../src/main/config/parse.ts";
import { readSecrets } from "../../../../src/main/config/secrets.ts";
import { variables, type Environment } from "../../../../src/main/config/variables.ts";

const scale: Environment = {
  RELAY_EVENT_STORE: "eventstoredb", RELAY_EVENTSTOREDB_URL: "esdb://admin:hidden@a:2113,b:2113?tls=false",
  RELAY_QUEUE: "kafka", RELAY_KAFKA_BROKERS: "k1:9092, [::1]:9093",
  RELAY_READ_MODELS: "mongodb", RELAY_MONGODB_URL: "mongodb://u:hidden@m1:27017,m2:27017/relay",
  RELAY_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
};

/** A time at which every certificate of Node's is valid. */
const now = Date.parse("2026-01-01");

function base64(bytes: number): string {
  return Buffer.alloc(bytes).toString("base64");
}

/** The message of the ConfigError for the environment. */
function complaint(env: Environment): string {
  try {
    readSecrets(env, readConfig(env));
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigError);
    expect((error as Error).message).to.not.include("\n");
    return (error as Error).message;
  }
  throw new Error(`no complaint about ${JSON.stringify(env)}`);
}

const base64Of = (text: string) => Buffer.from(text).toString("base64");

describe("configuration", () => {
  it("has the documented defaults", () => {
    const config = readConfig({});
    expect(config).to.deep.equal({
      host: "127.0.0.1", port: 8080, dataDir: resolve("data"),
      roles: new Set(["api", "forwarder", "delivery", "projector", "sweeper"]),
      eventStore: { engine: "embedded" }, queue: { engine: "embedded" }, readModels: { engine: "embedded" },
      turnstile: null, trustedProxies: 0, maxBodyBytes: 262_144,
      accessTokenTtlMs: 3_600_000, passwordCost: 12,
      limits: {
        loginFailures: { max: 10, windowMs: 300_000 },
        tenantCreation: { max: 5, windowMs: 3_600_000 },
        inviteRegistration: { max: 10, windowMs: 3_600_000 },
      },
      retry: {
        scheduleMs: [5000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000],
        jitter: 0.1,
      },
      outbound: { connectTimeoutMs: 5000, deliveryTimeoutMs: 15_000, allowedNetworks: [], extraCa: null },
      publicUrl: null, portal: { name: null, logo: null, color: null, origins: [] },
      dashboard: true, logLevel: "info", revision: "unknown", shutdownTimeoutMs: 25_000,
    });
    expect(readSecrets({}, config)).to.deep.equal({
      masterKey: null, oldMasterKeys: [], turnstileSecret: null, kafkaPassword: null, outboundProxy: null,
    });
    expect(configWarnings({ PATH: "/bin" }, config, now)).to.deep.equal([]);
  });

  it("has the types that the domain and the ports need", () => {
    const config: Config = readConfig({
      RELAY_LIMIT_LOGIN_FAILURES: "off", RELAY_RETRY_SCHEDULE: "250ms, 1d", RELAY_RETRY_JITTER: "0",
    });
    const retry: RetryPolicy = config.retry;
    const limit: RateLimit | null = config.limits.loginFailures;
    expect(retry).to.deep.equal({ scheduleMs: [250, 86_400_000], jitter: 0 });
    expect(limit).to.equal(null);
  });

  it("resolves a relative data folder", () => {
    expect(readConfig({ RELAY_DATA_DIR: "some/../where" }).dataDir).to.equal(join(process.cwd(), "where"));
  });

  it("accepts values at each bound, and any kind of address to listen at", () => {
    for (const [variable, ...values] of [
      ["RELAY_PORT", "0", "65535"], ["RELAY_TRUSTED_PROXIES", "0", "100"], ["RELAY_MAX_BODY_BYTES", "1", "16777216"],
      ["RELAY_ACCESS_TOKEN_TTL", "1s", "30d"], ["RELAY_PASSWORD_COST", "4", "15"], ["RELAY_RETRY_JITTER", "0", "1"],
      ["RELAY_CONNECT_TIMEOUT", "1ms", "1h"], ["RELAY_RETRY_SCHEDULE", "1ms,365d", Array(100).fill("1s").join()],
      ["RELAY_LIMIT_LOGIN_FAILURES", "1/1ms", "1000000/30d"], ["RELAY_ALLOWED_NETWORKS", "0.0.0.0/32", "::/128"],
      ["RELAY_HOST", "::1", "0.0.0.0", "relay.internal"],
    ] as const) {
      for (const value of values) {
        expect(() => readConfig({ [variable]: value }), `${variable}=${value}`).not.to.throw();
      }
    }
  });

  it("reads the engines at scale, separate roles, and secrets", () => {
    const env = {
      ...scale, RELAY_ROLES: "api, sweeper", RELAY_KAFKA_TLS: "true", RELAY_KAFKA_SASL_MECHANISM: "scram-sha-512",
      RELAY_KAFKA_SASL_USERNAME: "relay", RELAY_KAFKA_SASL_PASSWORD: "pa,ss",
      RELAY_OLD_MASTER_KEYS: `${Buffer.alloc(32, 1).toString("base64")},${Buffer.alloc(32, 2).toString("base64")}`,
    };
    const config = readConfig(env);
    expect(config.roles).to.deep.equal(new Set(["api", "sweeper"]));
    expect(config.eventStore).to.deep.equal({ engine: "eventstoredb", url: scale.RELAY_EVENTSTOREDB_URL });
    expect(config.readModels).to.deep.equal({ engine: "mongodb", url: scale.RELAY_MONGODB_URL });
    expect(config.queue).to.deep.equal({
      engine: "kafka", brokers: ["k1:9092", "[::1]:9093"], tls: { ca: null },
      sasl: { mechanism: "scram-sha-512", username: "relay" }, topicPrefix: "relay",
      topic: { partitions: 12, replication: null, retentionMs: 86_400_000 },
    });
    expect(readSecrets(env, config)).to.deep.equal({
      masterKey: Buffer.alloc(32, 7), oldMasterKeys: [Buffer.alloc(32, 1), Buffer.alloc(32, 2)],
      turnstileSecret: null, kafkaPassword: "pa,ss", outboundProxy: null,
    });
  });

  it("needs no password where Kafka needs none", () => {
    expect(readSecrets(scale, readConfig(scale)).kafkaPassword).to.equal(null);
  });

  it("turns on the protections of the cloud offering", () => {
    const env = { RELAY_OFFERING: "cloud", RELAY_TURNSTILE_SECRET: "s3cret" };
    const config = readConfig(env);
    expect(config.turnstile?.verifyUrl).to.match(/^https:/);
    expect(readSecrets(env, config).turnstileSecret).to.equal("s3cret");
    for (const url of ["http://x.example/", "https://u@x.example/", "https://:p@x.example/", "x.example", ""]) {
      expect(complaint({ ...env, RELAY_TURNSTILE_VERIFY_URL: url })).to.match(/^RELAY_TURNSTILE_VERIFY_URL: must/);
    }
  });

  const bad: readonly (readonly [variable: string, ...values: string[]])[] = [
    ["RELAY_HOST", "", " ", "a b", "http://x"],
    ["RELAY_REVISION", "", "two words", "a\"b", "é", "a".repeat(65)],
    ["RELAY_PORT", "", "65536", "-1", "80.5", "0x50", "eighty"],
    ["RELAY_DATA_DIR", ""],
    ["RELAY_ROLES", "", "api,", "api,postman", "api", "ALL", "all,api", "forwarder,delivery,projector,sweeper"],
    ["RELAY_EVENT_STORE", "kafka", "Embedded"],
    ["RELAY_QUEUE", "rabbit"],
    ["RELAY_READ_MODELS", "redis"],
    ["RELAY_MASTER_KEY", "short", base64(31), base64(33), "!".repeat(44), base64(32).replace("A", "A!")],
    ["RELAY_OLD_MASTER_KEYS", "short", `${base64(32)},short`],
    ["RELAY_OFFERING", "Cloud"],
    ["RELAY_TRUSTED_PROXIES", "-1", "101"],
    ["RELAY_MAX_BODY_BYTES", "0", "16777217", "256k"],
    ["RELAY_ACCESS_TOKEN_TTL", "999ms", "31d", "1", "1.5h", "h"],
    ["RELAY_PASSWORD_COST", "3", "16"],
    ["RELAY_LIMIT_LOGIN_FAILURES", "10", "0/5m", "10/", "10/5m/2", "Off"],
    ["RELAY_LIMIT_TENANT_CREATION", "x/1h"],
    ["RELAY_LIMIT_INVITE_REGISTRATION", "1/31d"],
    ["RELAY_RETRY_SCHEDULE", "", "5s,,5m", "5s,0s", "366d", Array(101).fill("1s").join(",")],
    ["RELAY_RETRY_JITTER", "1.1", "-0.1", "10%", "1e-1"],
    ["RELAY_CONNECT_TIMEOUT", "0s", "2h"],
    ["RELAY_DELIVERY_TIMEOUT", "15"],
    ["RELAY_ALLOWED_NETWORKS", "10.0.0.1", "10.0.0.0/33", "::1/129", "fe80::1%eth0/64", "10.0.0/8", "example.com/8",
      "::ffff:10.0.0.0/104", "::ffff:0:0/96", "::ffff:0:0/95", "1.2.3.4/024", "10.0.0.0/08", "::/00", "::1%eth0/128",
      "010.0.0.0/8", "10.0.0.0/", "10.0.0.0/+8", "10.0.0.0/-0", "/8"],
    ["RELAY_EXTRA_CA_FILE", "/nowhere/ca.pem"],
    ["RELAY_OUTBOUND_PROXY", "", "proxy:3128", "https://proxy:3128", "http://proxy", "http://proxy:0",
      "http://proxy:65536", "http://:3128", "http://proxy:3128/path", "http://proxy:3128?a",
      "http://[10.0.0.1]:3128", "http://[::1:3128",
      "http://user@proxy:3128", "http://:pass@proxy:3128", "http://a:b:c@proxy:3128", "http://a:%zz@proxy:3128",
      "http://a:%0a@proxy:3128", "http://a b:c@proxy:3128", "socks5://proxy:1080"],
    ["RELAY_LOG_LEVEL", "verbose"],
    ["RELAY_SHUTDOWN_TIMEOUT", "forever\nand a day"],
  ];
  for (const [variable, ...values] of bad) {
    it(`refuses bad values of ${variable}, and names it`, () => {
      for (const value of values) expect(complaint({ [variable]: value })).to.match(new RegExp(`^${variable}: must`));
    });
  }

  const together: readonly (readonly [missing: string, env: Environment])[] = [
    ["RELAY_EVENTSTOREDB_URL", { RELAY_EVENT_STORE: "eventstoredb" }],
    ["RELAY_KAFKA_BROKERS", { RELAY_QUEUE: "kafka" }],
    ["RELAY_MONGODB_URL", { RELAY_READ_MODELS: "mongodb" }],
    ["RELAY_TURNSTILE_SECRET", { RELAY_OFFERING: "cloud" }],
    ["RELAY_MASTER_KEY", { ...scale, RELAY_MASTER_KEY: undefined }],
    ["RELAY_KAFKA_SASL_MECHANISM", { ...scale, RELAY_KAFKA_SASL_USERNAME: "relay" }],
    ["RELAY_KAFKA_SASL_MECHANISM", { ...scale, RELAY_KAFKA_SASL_PASSWORD: "hidden" }],
    ["RELAY_KAFKA_SASL_USERNAME", { ...scale, RELAY_KAFKA_SASL_MECHANISM: "plain" }],
    [
      "RELAY_KAFKA_SASL_PASSWORD",
      { ...scale, RELAY_KAFKA_SASL_MECHANISM: "plain", RELAY_KAFKA_SASL_USERNAME: "relay" },
    ],
  ];
  for (const [missing, env] of together) {
    it(`requires ${missing} where it is needed`, () => {
      const message = complaint(env);
      expect(message).to.match(new RegExp(`^${missing}: must be set, since `));
      expect(complaint({ ...env, [missing]: " " })).to.equal(message.replace("must be set", "must not be empty"));
    });
  }

  it("refuses an empty variable, and says whether it has a default without it", () => {
    expect(complaint({ RELAY_PORT: "" })).to.equal("RELAY_PORT: must not be empty; leave it out to have the default");
    for (const variable of ["RELAY_MASTER_KEY", "RELAY_ALLOWED_NETWORKS", "RELAY_EXTRA_CA_FILE"]) {
      expect(complaint({ [variable]: "" })).to.equal(`${variable}: must not be empty; leave it out instead`);
    }
  });

  const badAtScale: readonly (readonly [variable: string, value: string])[] = [
    ["RELAY_EVENTSTOREDB_URL", "esdb://hidden:99999"], ["RELAY_EVENTSTOREDB_URL", "esdb://a:2113,hidden:0"],
    ["RELAY_EVENTSTOREDB_URL", "http://hidden@x"], ["RELAY_EVENTSTOREDB_URL", "esdb://"],
    ["RELAY_EVENTSTOREDB_URL", "esdb://admin:a@hidden@x"], ["RELAY_EVENTSTOREDB_URL", "esdb://admin:a/@hidden@x"],
    ["RELAY_MONGODB_URL", "mongodb://u:a@hidden@x/"],
    ["RELAY_MONGODB_URL", "hidden"], ["RELAY_MONGODB_URL", "mongodb:///hidden"],
    ["RELAY_KAFKA_BROKERS", "k1"], ["RELAY_KAFKA_BROKERS", "k1:0"], ["RELAY_KAFKA_BROKERS", "[k1]:9092"],
    ["RELAY_KAFKA_BROKERS", "a b:1"], ["RELAY_KAFKA_TLS", "yes"], ["RELAY_KAFKA_SASL_MECHANISM", "none"],
    ["RELAY_KAFKA_TOPIC_PREFIX", "a/b"], ["RELAY_KAFKA_PARTITIONS", "0"], ["RELAY_KAFKA_REPLICATION", "0"],
    ["RELAY_KAFKA_RETENTION", "59s"],
  ];
  for (const [variable, value] of badAtScale) {
    it(`refuses ${variable}=${value} without showing a secret`, () => {
      const message = complaint({ ...scale, [variable]: value });
      expect(message).to.match(new RegExp(`^${variable}: must`)).and.not.include("hidden");
    });
  }

  it("reads the outbound proxy with its name and password, which no error shows", () => {
    const proxyOf = (text: string) => readSecrets({ RELAY_OUTBOUND_PROXY: text }, readConfig({})).outboundProxy;
    expect(proxyOf("http://proxy.internal:3128")).to.deep.equal({
      host: "proxy.internal", port: 3128, authorization: null,
    });
    expect(proxyOf("http://us%40er:p%3Ass%25@[fd00::1]:80/")).to.deep.equal({
      host: "fd00::1", port: 80, authorization: `Basic ${base64Of("us@er:p:ss%")}`,
    });
    expect(proxyOf("http://user:@10.0.0.1:3128")?.authorization).to.equal(`Basic ${base64Of("user:")}`);
    for (const text of [
      "http://user:hidden@proxy", "http://user:hid@den@proxy:1", "http://user:hidden/x@proxy:1", "http://user:hidden",
      "http://user:hidden@pro xy:1", "http://user:hidden%@proxy:1", "https://user:hidden@proxy:1",
      "http://hidden@proxy:1", "http://user:hidden@proxy:99999", "http://user:hidden@[x]:1",
    ]) {
      expect(complaint({ RELAY_OUTBOUND_PROXY: text }), text).to.not.include("hid");
    }
  });

  it("refuses bad values of unused settings, too", () => {
    for (const [variable, value] of badAtScale) {
      const message = complaint({ [variable]: value });
      expect(message, value).to.match(new RegExp(`^${variable}: must`)).and.not.include("hidden");
    }
    for (const variable of variables) {
      expect(complaint({ [variable]: " " })).to.match(new RegExp(`^${variable}: must not be empty; leave it out`));
    }
    for (const url of ["http://x.example/", "https://u:hidden@x.example/"]) {
      expect(complaint({ RELAY_TURNSTILE_VERIFY_URL: url })).to.match(/^RELAY_TURNSTILE_VERIFY_URL: must/);
    }
    expect(complaint({ ...scale, RELAY_KAFKA_CA_FILE: "/nowhere/ca.pem" })).to.match(/^RELAY_KAFKA_CA_FILE: must/);
  });

  it("refuses separate roles while any engine is embedded", () => {
    for (const name of ["RELAY_EVENT_STORE", "RELAY_QUEUE", "RELAY_READ_MODELS"]) {
      const message = complaint({ ...scale, RELAY_ROLES: "delivery", [name]: "embedded" });
      expect(message).to.include(`RELAY_ROLES: must be all, since ${name} is embedded`);
      expect(message).to.include("missing: api, forwarder, projector, sweeper");
    }
    expect(readConfig({ ...scale, RELAY_ROLES: "delivery" }).roles).to.deep.equal(new Set(["delivery"]));
  });

  it("checks the certificates of a further authority", () => {
    const folder = mkdtempSync(join(tmpdir(), "relay-config-"));
    const file = join(folder, "ca.pem");
    try {
      writeFileSync(file, rootCertificates.slice(0, 2).join("\n"));
      expect(readConfig({ RELAY_EXTRA_CA_FILE: file }).outbound.extraCa?.parsed).to.have.length(2);
      const env = { ...scale, RELAY_KAFKA_TLS: "true", RELAY_KAFKA_CA_FILE: file };
      expect(configWarnings(env, readConfig(env), now)).to.deep.equal([]);
      const plain = { ...env, RELAY_KAFKA_TLS: "false" };
      expect(configWarnings(plain, readConfig(plain), now)).to.deep.equal(
        ["RELAY_KAFKA_CA_FILE: has no effect, since RELAY_KAFKA_TLS is not true"]);
      writeFileSync(file, "no certificate");
      expect(complaint({ RELAY_EXTRA_CA_FILE: file })).to.include("holds no certificate");
      writeFileSync(file, `${rootCertificates[0]}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`);
      expect(complaint({ RELAY_EXTRA_CA_FILE: file })).to.include("certificate 2 in");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("warns of unknown variables and of settings without effect", () => {
    const env = { RELAY_PROT: "80", RELAY_KAFKA_BROKERS: "k1:9092", RELAY_TURNSTILE_SECRET: "hidden" };
    const warnings = configWarnings(env, readConfig(env), now);
    const named = warnings.map((warning) => warning.split(":")[0]);
    expect(named).to.deep.equal(["RELAY_PROT", "RELAY_KAFKA_BROKERS", "RELAY_TURNSTILE_SECRET"]);
    expect(warnings.join()).to.not.include("hidden");
  });

  it("quotes only the beginning of a long value", () => {
    for (const [length, shown] of [[60, "x".repeat(60)], [61, `${"x".repeat(60)}…`]] as const) {
      expect(complaint({ RELAY_LOG_LEVEL: "x".repeat(length) })).to.match(new RegExp(`not "${shown}"$`));
    }
  });

  it("refuses the role all in a list of roles", () => {
    expect(complaint({ RELAY_ROLES: "all,api" })).to.equal(
      "RELAY_ROLES: must be all alone, or a list of roles without it");
    expect(complaint({ RELAY_ROLES: "everything" })).to.include("must be one of all, api");
  });

  it("warns of settings that another one makes useless", () => {
    const warnings = (env: Environment) => configWarnings(env, readConfig(env), now);
    for (const [variable, engine] of [
      ["RELAY_EVENTSTOREDB_URL", "RELAY_EVENT_STORE is not eventstoredb"],
      ["RELAY_MONGODB_URL", "RELAY_READ_MODELS is not mongodb"],
    ] as const) {
      expect(warnings({ [variable]: scale[variable] })).to.deep.equal([`${variable}: has no effect, since ${engine}`]);
    }
    expect(warnings(scale)).to.deep.equal([]);
    expect(warnings({ RELAY_OFFERING: "cloud", RELAY_TURNSTILE_SECRET: "hidden" })).to.deep.equal([]);
    expect(warnings({ RELAY_CONNECT_TIMEOUT: "20s" })).to.deep.equal(
      ["RELAY_CONNECT_TIMEOUT: has no effect, since RELAY_DELIVERY_TIMEOUT, the time for everything, is shorter"]);
    for (const env of [{ RELAY_DELIVERY_TIMEOUT: "2s" }, { RELAY_CONNECT_TIMEOUT: "15s" }]) {
      expect(warnings(env)).to.deep.equal([]);
    }
  });

  it("warns of networks that may be meant as one address", () => {
    const networks = [
      "10.0.0.5/8", "10.0.0.0/8", "10.0.0.5/32", "0.0.0.0/0", "128.0.0.0/1", "192.168.1.128/24", "fd00::1/8",
      "fd00::/8", "::1/128", "::/0", "2001:db8::ff/120", "2001:db8::/120", "64:ff9b::10.0.0.0/104",
      "64:ff9b::10.0.0.1/104", "2001:db8::ff00/120",
    ];
    const env = { RELAY_ALLOWED_NETWORKS: networks.join() };
    expect(configWarnings(env, readConfig(env), now).map((warning) => warning.split(" ")[1])).to.deep.equal(
      ["10.0.0.5/8", "192.168.1.128/24", "fd00::1/8", "2001:db8::ff/120", "64:ff9b::10.0.0.1/104"]);
  });

  it("refuses networks that no setting can open, and takes networks that hold other addresses besides", () => {
    const networks = [
      "169.254.0.0/16", "169.254.1.2/16", "169.254.169.254/32", "168.63.129.16/32", "100.100.100.200/32",
      "192.0.0.192/32", "fe80::/10", "fe80::/64", "FE80::1/128", "febf::/16", "fd00:ec2::254/128", "fd00:ec2::/32",
      "fd20:ce::/32", "fd00:42::42/128",
    ];
    for (const network of networks) {
      const env = { RELAY_ALLOWED_NETWORKS: `10.0.0.0/8, ${network}` };
      expect(() => readConfig(env), network).to.throw(/^RELAY_ALLOWED_NETWORKS: must not name [^\n]+ is never called/)
        .with.property("message").that.includes(network);
    }
    const others = ["169.254.0.0/15", "0.0.0.0/0", "::/0", "fd00::/8", "10.0.0.0/8", "fe80::/9"];
    const { outbound } = readConfig({ RELAY_ALLOWED_NETWORKS: others.join() });
    expect(outbound.allowedNetworks).to.deep.equal(others);
    const allows = createAddressRules(outbound.allowedNetworks);
    for (const never of ["169.254.0.1", "169.254.169.254", "168.63.129.16", "fe80::1", "fd00:ec2::254"]) {
      expect(allows(never), never).to.equal(false);
    }
    expect([allows("10.0.0.1"), allows("169.255.0.1"), allows("fd00::1")]).to.deep.equal([true, true, true]);
  });
});
