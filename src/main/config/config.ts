import { resolve } from "node:path";
import packageJson from "../../../package.json" with { type: "json" };
import { neverCalled } from "../../kernel/domain/never-called.ts";
import { certificateFile, certificateWarnings, type Certificates } from "./certificates.ts";
import {
  boolean, ConfigError, connectionString, dayMs, duration, fail, fraction, hasHostBits, host, hostAndPort, httpsUrl,
  integer, isWithin, list, network, oneOf, rate, type Rate,
} from "./parse.ts";
import { brandName, color, logoFile, origin, publicUrl, type Logo } from "./portal.ts";
import { reader, variables, type Environment, type Reader, type Variable } from "./variables.ts";

/** The version of this program. */
export const { version } = packageJson;
/** The values of `RELAY_ROLES` besides `all`. */
export const processRoles = ["api", "forwarder", "delivery", "projector", "sweeper"] as const;
/** A part of the service that a process can run. */
export type ProcessRole = (typeof processRoles)[number];
const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
/** The lowest level that is written. */
export type LogLevel = (typeof logLevels)[number];

/** Settings of Kafka; the password is among the secrets. */
export interface KafkaConfig {
  readonly engine: "kafka";
  /** `host:port` each. */
  readonly brokers: readonly string[];
  /** Without `ca`, Node's authorities are trusted. */
  readonly tls: { readonly ca: Certificates | null } | null;
  readonly sasl: { readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512"; readonly username: string } | null;
  /** Begins the names of the topic and of the consumer group; the same in all processes of a relay. */
  readonly topicPrefix: string;
  /** For a topic that does not exist yet. */
  readonly topic: {
    readonly partitions: number;
    /** Null: the brokers' default. */
    readonly replication: number | null;
    readonly retentionMs: number;
  };
}

/** All settings but the secrets. Connection strings may hold a password: do not print them. */
export interface Config {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly dataDir: string;
  readonly roles: ReadonlySet<ProcessRole>;
  readonly eventStore: { readonly engine: "embedded" } | { readonly engine: "eventstoredb"; readonly url: string };
  readonly queue: { readonly engine: "embedded" } | KafkaConfig;
  readonly readModels: { readonly engine: "embedded" } | { readonly engine: "mongodb"; readonly url: string };
  /** Null unless the offering is cloud. */
  readonly turnstile: { readonly verifyUrl: string } | null;
  readonly trustedProxies: number;
  /** The largest request body, and the largest mapped payload. */
  readonly maxBodyBytes: number;
  readonly accessTokenTtlMs: number;
  /** The binary logarithm of bcrypt's rounds. */
  readonly passwordCost: number;
  /** Null: no limit. */
  readonly limits: {
    readonly loginFailures: Rate | null;
    readonly tenantCreation: Rate | null;
    readonly inviteRegistration: Rate | null;
  };
  readonly retry: { readonly scheduleMs: readonly number[]; readonly jitter: number };
  readonly outbound: {
    readonly connectTimeoutMs: number;
    readonly deliveryTimeoutMs: number;
    /** In CIDR notation. */
    readonly allowedNetworks: readonly string[];
    /** Authorities trusted besides Node's. */
    readonly extraCa: Certificates | null;
  };
  readonly dashboard: boolean;
  /** Null: where it listens. */
  readonly publicUrl: string | null;
  readonly portal: {
    readonly name: string | null;
    readonly logo: Logo | null;
    /** `#rrggbb` */
    readonly color: string | null;
    /** Origins that may frame it. */
    readonly origins: readonly string[];
  };
  readonly logLevel: LogLevel;
  readonly revision: string;
  readonly shutdownTimeoutMs: number;
}

/** Parsers of settings that have an effect only together with others. */
const forms = {
  RELAY_EVENTSTOREDB_URL: connectionString("esdb", "esdb+discover"),
  RELAY_KAFKA_BROKERS: list(hostAndPort),
  RELAY_KAFKA_TLS: boolean,
  RELAY_KAFKA_CA_FILE: certificateFile,
  RELAY_KAFKA_SASL_MECHANISM: oneOf("plain", "scram-sha-256", "scram-sha-512"),
  RELAY_KAFKA_SASL_USERNAME: String,
  RELAY_KAFKA_TOPIC_PREFIX: topicPrefix,
  RELAY_KAFKA_PARTITIONS: integer({ min: 1, max: 10_000 }),
  RELAY_KAFKA_REPLICATION: integer({ min: 1, max: 100 }),
  RELAY_KAFKA_RETENTION: duration({ min: 60_000, max: 365 * dayMs }),
  RELAY_MONGODB_URL: connectionString("mongodb", "mongodb+srv"),
  RELAY_TURNSTILE_VERIFY_URL: httpsUrl,
} as const;

/** The configuration of an environment. Throws ConfigError. */
export function readConfig(env: Environment): Config {
  const from = reader(env);
  const timeout = duration({ min: 1, max: 3_600_000 });
  const wait = duration({ min: 1, max: 365 * dayMs });
  const config: Config = {
    host: from.read("RELAY_HOST", "127.0.0.1", host),
    port: from.read("RELAY_PORT", "8080", integer({ min: 0, max: 65_535 })),
    dataDir: from.read("RELAY_DATA_DIR", "./data", path),
    roles: from.read("RELAY_ROLES", "all", roleSet),
    eventStore: eventStore(from),
    queue: queue(from),
    readModels: readModels(from),
    turnstile: turnstile(from),
    trustedProxies: from.read("RELAY_TRUSTED_PROXIES", "0", integer({ min: 0, max: 100 })),
    maxBodyBytes: from.read("RELAY_MAX_BODY_BYTES", "262144", integer({ min: 1, max: 16_777_216 })),
    accessTokenTtlMs: from.read("RELAY_ACCESS_TOKEN_TTL", "1h", duration({ min: 1000, max: 30 * dayMs })),
    passwordCost: from.read("RELAY_PASSWORD_COST", "12", integer({ min: 4, max: 15 })),
    limits: {
      loginFailures: from.read("RELAY_LIMIT_LOGIN_FAILURES", "10/5m", rate),
      tenantCreation: from.read("RELAY_LIMIT_TENANT_CREATION", "5/1h", rate),
      inviteRegistration: from.read("RELAY_LIMIT_INVITE_REGISTRATION", "10/1h", rate),
    },
    retry: {
      scheduleMs: from.read("RELAY_RETRY_SCHEDULE", "5s,5m,30m,2h,5h,10h,14h,20h,24h", list(wait)),
      jitter: from.read("RELAY_RETRY_JITTER", "0.1", fraction({ min: 0, max: 1 })),
    },
    outbound: {
      connectTimeoutMs: from.read("RELAY_CONNECT_TIMEOUT", "5s", timeout),
      deliveryTimeoutMs: from.read("RELAY_DELIVERY_TIMEOUT", "15s", timeout),
      allowedNetworks: from.optional("RELAY_ALLOWED_NETWORKS", list(callableNetwork)) ?? [],
      extraCa: from.optional("RELAY_EXTRA_CA_FILE", certificateFile),
    },
    dashboard: from.read("RELAY_DASHBOARD", "on", oneOf("on", "off")) === "on",
    publicUrl: from.optional("RELAY_PUBLIC_URL", publicUrl),
    portal: {
      name: from.optional("RELAY_PORTAL_NAME", brandName),
      logo: from.optional("RELAY_PORTAL_LOGO", logoFile),
      color: from.optional("RELAY_PORTAL_COLOR", color),
      origins: from.optional("RELAY_PORTAL_ORIGINS", list(origin)) ?? [],
    },
    logLevel: from.read("RELAY_LOG_LEVEL", "info", oneOf(...logLevels)),
    revision: from.read("RELAY_REVISION", "unknown", revision),
    shutdownTimeoutMs: from.read("RELAY_SHUTDOWN_TIMEOUT", "25s", timeout),
  };
  // Unused settings must be valid, too.
  for (const name of Object.keys(forms) as (keyof typeof forms)[]) from.optional<unknown>(name, forms[name]);
  refuseRolesApart(config);
  return config;
}

/** Likely mistakes, a line each: unknown variables, settings without effect, certificates not valid at `now`. */
export function configWarnings(env: Environment, config: Config, now: number): readonly string[] {
  const known: readonly string[] = variables;
  const unknown = Object.keys(env).filter((name) => name.startsWith("RELAY_") && !known.includes(name));
  const idle = (used: boolean, because: string, names: readonly Variable[]) =>
    names.filter((name) => !used && env[name] !== undefined).map((name) => `${name}: has no effect, since ${because}`);
  const { dashboard, eventStore, queue, readModels, turnstile, outbound } = config;
  const inTime = outbound.connectTimeoutMs <= outbound.deliveryTimeoutMs;
  const ofKafka = variables.filter((name) => name.startsWith("RELAY_KAFKA_"));
  const ofTurnstile = variables.filter((name) => name.startsWith("RELAY_TURNSTILE_"));
  const kafkaCa = queue.engine === "kafka" ? queue.tls?.ca : null;
  const ofCertificates = (variable: Variable, ca: Certificates | null | undefined) =>
    (ca ? certificateWarnings(ca, now) : []).map((warning) => `${variable}: ${warning}`);
  return [
    ...unknown.map((name) => `${name}: is not a variable this program knows`),
    ...idle(eventStore.engine === "eventstoredb", "RELAY_EVENT_STORE is not eventstoredb", ["RELAY_EVENTSTOREDB_URL"]),
    ...idle(queue.engine === "kafka", "RELAY_QUEUE is not kafka", ofKafka),
    ...idle(readModels.engine === "mongodb", "RELAY_READ_MODELS is not mongodb", ["RELAY_MONGODB_URL"]),
    ...idle(queue.engine !== "kafka" || queue.tls !== null, "RELAY_KAFKA_TLS is not true", ["RELAY_KAFKA_CA_FILE"]),
    ...idle(dashboard, "RELAY_DASHBOARD is off", variables.filter((name) => name.startsWith("RELAY_PORTAL_"))),
    ...idle(turnstile !== null, "RELAY_OFFERING is not cloud", ofTurnstile),
    ...idle(inTime, "RELAY_DELIVERY_TIMEOUT, the time for everything, is shorter", ["RELAY_CONNECT_TIMEOUT"]),
    ...outbound.allowedNetworks.filter(hasHostBits).map((network) =>
      `RELAY_ALLOWED_NETWORKS: ${network} names an address within a network: the whole network is allowed`),
    ...ofCertificates("RELAY_EXTRA_CA_FILE", outbound.extraCa),
    ...ofCertificates("RELAY_KAFKA_CA_FILE", kafkaCa),
  ];
}

function roleSet(text: string): ReadonlySet<ProcessRole> {
  const named = list(oneOf("all", ...processRoles))(text);
  const roles = named.filter((name) => name !== "all");
  if (roles.length === named.length) return new Set(roles);
  return named.length === 1 ? new Set(processRoles) : fail("must be all alone, or a list of roles without it");
}

/** A network in CIDR notation that lies in no network that is never called. */
function callableNetwork(text: string): string {
  const never = neverCalled.find((one) => isWithin(network(text), one));
  if (never === undefined) return text;
  return fail(`must not name ${text}: ${never}, link-local or cloud metadata, is never called, whatever is allowed`);
}

function eventStore(from: Reader): Config["eventStore"] {
  const engine = from.read("RELAY_EVENT_STORE", "embedded", oneOf("embedded", "eventstoredb"));
  if (engine === "embedded") return { engine };
  const because = "RELAY_EVENT_STORE is eventstoredb";
  return { engine, url: from.required("RELAY_EVENTSTOREDB_URL", because, forms.RELAY_EVENTSTOREDB_URL) };
}

function queue(from: Reader): Config["queue"] {
  const engine = from.read("RELAY_QUEUE", "embedded", oneOf("embedded", "kafka"));
  if (engine === "embedded") return { engine };
  const mechanism = saslMechanism(from);
  return {
    engine,
    brokers: from.required("RELAY_KAFKA_BROKERS", "RELAY_QUEUE is kafka", forms.RELAY_KAFKA_BROKERS),
    tls: from.read("RELAY_KAFKA_TLS", "false", forms.RELAY_KAFKA_TLS)
      ? { ca: from.optional("RELAY_KAFKA_CA_FILE", forms.RELAY_KAFKA_CA_FILE) }
      : null,
    sasl: mechanism && {
      mechanism,
      username: from.required(
        "RELAY_KAFKA_SASL_USERNAME", "RELAY_KAFKA_SASL_MECHANISM is set", forms.RELAY_KAFKA_SASL_USERNAME),
    },
    topicPrefix: from.read("RELAY_KAFKA_TOPIC_PREFIX", "relay", forms.RELAY_KAFKA_TOPIC_PREFIX),
    topic: {
      partitions: from.read("RELAY_KAFKA_PARTITIONS", "12", forms.RELAY_KAFKA_PARTITIONS),
      replication: from.optional("RELAY_KAFKA_REPLICATION", forms.RELAY_KAFKA_REPLICATION),
      retentionMs: from.read("RELAY_KAFKA_RETENTION", "1d", forms.RELAY_KAFKA_RETENTION),
    },
  };
}

/** Refuses credentials without a mechanism: they would be unused, and the brokers' error would say little. */
function saslMechanism(from: Reader) {
  const credentials = ["RELAY_KAFKA_SASL_USERNAME", "RELAY_KAFKA_SASL_PASSWORD"] as const;
  const given = credentials.find((name) => from.isSet(name));
  const mechanism = forms.RELAY_KAFKA_SASL_MECHANISM;
  return given
    ? from.required("RELAY_KAFKA_SASL_MECHANISM", `${given} is set`, mechanism)
    : from.optional("RELAY_KAFKA_SASL_MECHANISM", mechanism);
}

function readModels(from: Reader): Config["readModels"] {
  const engine = from.read("RELAY_READ_MODELS", "embedded", oneOf("embedded", "mongodb"));
  if (engine === "embedded") return { engine };
  const because = "RELAY_READ_MODELS is mongodb";
  return { engine, url: from.required("RELAY_MONGODB_URL", because, forms.RELAY_MONGODB_URL) };
}

function turnstile(from: Reader): Config["turnstile"] {
  const offering = from.read("RELAY_OFFERING", "self-hosted", oneOf("self-hosted", "cloud"));
  if (offering === "self-hosted") return null;
  const standard = "https://challenges.cloudflare.com/turnstile/v0/siteverify";
  return { verifyUrl: from.read("RELAY_TURNSTILE_VERIFY_URL", standard, forms.RELAY_TURNSTILE_VERIFY_URL) };
}

function path(text: string): string {
  return text.includes("\0") ? fail("must be a path") : resolve(text);
}

function topicPrefix(text: string): string {
  if (!/^[A-Za-z0-9._-]{1,100}$/.test(text)) fail("must be 1 to 100 letters, digits, dots, dashes or underscores");
  return text;
}

function revision(text: string): string {
  if (/^[A-Za-z0-9._+-]{1,64}$/.test(text)) return text;
  return fail("must be 1 to 64 letters, digits, dots, dashes, underscores or plus signs");
}

/** Processes share work through their engines only, and an embedded engine lives in one process. */
function refuseRolesApart({ roles, eventStore, queue, readModels }: Config): void {
  const embedded = [
    eventStore.engine === "embedded" && "RELAY_EVENT_STORE",
    queue.engine === "embedded" && "RELAY_QUEUE",
    readModels.engine === "embedded" && "RELAY_READ_MODELS",
  ].filter((name) => name !== false);
  const missing = processRoles.filter((role) => !roles.has(role));
  if (embedded.length === 0 || missing.length === 0) return;
  const engines = `${embedded.join(", ")} ${embedded.length === 1 ? "is" : "are"} embedded`;
  const problem = `must be all, since ${engines} and no other process could reach it; missing: ${missing.join(", ")}`;
  throw new ConfigError("RELAY_ROLES", problem);
}
