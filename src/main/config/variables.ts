import { ConfigError, Unparsable, type Parser } from "./parse.ts";

/** Every environment variable the program knows. Each has a row in docs/configuration.md. */
export const variables = [
  "RELAY_HOST",
  "RELAY_PORT",
  "RELAY_DATA_DIR",
  "RELAY_ROLES",
  "RELAY_EVENT_STORE",
  "RELAY_EVENTSTOREDB_URL",
  "RELAY_QUEUE",
  "RELAY_KAFKA_BROKERS",
  "RELAY_KAFKA_TLS",
  "RELAY_KAFKA_CA_FILE",
  "RELAY_KAFKA_SASL_MECHANISM",
  "RELAY_KAFKA_SASL_USERNAME",
  "RELAY_KAFKA_SASL_PASSWORD",
  "RELAY_KAFKA_TOPIC_PREFIX",
  "RELAY_KAFKA_PARTITIONS",
  "RELAY_KAFKA_REPLICATION",
  "RELAY_KAFKA_RETENTION",
  "RELAY_READ_MODELS",
  "RELAY_MONGODB_URL",
  "RELAY_MASTER_KEY",
  "RELAY_OLD_MASTER_KEYS",
  "RELAY_OFFERING",
  "RELAY_TURNSTILE_SECRET",
  "RELAY_TURNSTILE_VERIFY_URL",
  "RELAY_TRUSTED_PROXIES",
  "RELAY_MAX_BODY_BYTES",
  "RELAY_ACCESS_TOKEN_TTL",
  "RELAY_PASSWORD_COST",
  "RELAY_LIMIT_LOGIN_FAILURES",
  "RELAY_LIMIT_TENANT_CREATION",
  "RELAY_LIMIT_INVITE_REGISTRATION",
  "RELAY_RETRY_SCHEDULE",
  "RELAY_RETRY_JITTER",
  "RELAY_CONNECT_TIMEOUT",
  "RELAY_DELIVERY_TIMEOUT",
  "RELAY_ALLOWED_NETWORKS",
  "RELAY_EXTRA_CA_FILE",
  "RELAY_DASHBOARD",
  "RELAY_LOG_LEVEL",
  "RELAY_REVISION",
  "RELAY_SHUTDOWN_TIMEOUT",
] as const;
/** The name of one of {@link variables}; no other variable can be read. */
export type Variable = (typeof variables)[number];

/** The environment as a process has it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Known variables of an environment, parsed. Every method throws ConfigError. */
export interface Reader {
  /** The default stands in for a variable that is not set, and is parsed like one. */
  read<T>(variable: Variable, standIn: string, parse: Parser<T>): T;
  isSet(variable: Variable): boolean;
  /** Null for a variable that is not set. */
  optional<T>(variable: Variable, parse: Parser<T>): T | null;
  /** `because`: the reason why the variable is required. */
  required<T>(variable: Variable, because: string, parse: Parser<T>): T;
}

/** Reads an environment; a variable that is set but empty is an error, never "not set". */
export function reader(env: Environment): Reader {
  const parsed = <T>(variable: Variable, text: string, parse: Parser<T>, wayOut: string): T => {
    const trimmed = text.trim();
    if (trimmed === "") throw new ConfigError(variable, `must not be empty${wayOut}`);
    try {
      return parse(trimmed);
    } catch (error) {
      throw error instanceof Unparsable ? new ConfigError(variable, error.message) : error;
    }
  };
  return {
    isSet: (variable) => env[variable] !== undefined,
    read: (variable, standIn, parse) =>
      parsed(variable, env[variable] ?? standIn, parse, "; leave it out to have the default"),
    optional(variable, parse) {
      const text = env[variable];
      return text === undefined ? null : parsed(variable, text, parse, "; leave it out instead");
    },
    required(variable, because, parse) {
      const text = env[variable];
      if (text === undefined) throw new ConfigError(variable, `must be set, since ${because}`);
      return parsed(variable, text, parse, `, since ${because}`);
    },
  };
}
