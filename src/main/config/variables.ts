import { ConfigError, Unparsable, type Parser } from "./parse.ts";

/** All environment variables of the program. Each has a row in docs/configuration.md. */
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
  "RELAY_OUTBOUND_PROXY",
  "RELAY_DASHBOARD",
  "RELAY_PUBLIC_URL",
  "RELAY_PORTAL_NAME",
  "RELAY_PORTAL_LOGO",
  "RELAY_PORTAL_COLOR",
  "RELAY_PORTAL_ORIGINS",
  "RELAY_LOG_LEVEL",
  "RELAY_REVISION",
  "RELAY_SHUTDOWN_TIMEOUT",
] as const;
/** The name of a known variable. */
export type Variable = (typeof variables)[number];

/** The environment of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads and parses variables of an environment. Its methods throw ConfigError. */
export interface Reader {
  /** Parses `standIn` if the variable is not set. */
  read<T>(variable: Variable, standIn: string, parse: Parser<T>): T;
  isSet(variable: Variable): boolean;
  optional<T>(variable: Variable, parse: Parser<T>): T | null;
  /** `because`: the reason why the variable is required. */
  required<T>(variable: Variable, because: string, parse: Parser<T>): T;
}

/** A reader that refuses empty variables. */
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

/** Runs a task that depends on a variable, and puts the variable's name before the text of an error. */
export async function namingVariable<Result>(
  variable: Variable, task: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await task();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${variable}: ${why}`, { cause: error });
  }
}
