import type { Config } from "./config.ts";
import { fail, list } from "./parse.ts";
import { reader, type Environment, type Variable } from "./variables.ts";

/** Settings that must never be printed, apart from those that may be. */
export interface Secrets {
  /** 32 bytes; null: the data folder's own key is used, made on the first start. */
  readonly masterKey: Uint8Array | null;
  /** Former master keys, under which keys may still be wrapped. 32 bytes each. */
  readonly oldMasterKeys: readonly Uint8Array[];
  /** Null unless the offering is cloud. */
  readonly turnstileSecret: string | null;
  /** Null unless Kafka asks for SASL. */
  readonly kafkaPassword: string | null;
}

/** Reads the secrets that the configuration asks for. Throws ConfigError, which never quotes one. */
export function readSecrets(env: Environment, config: Config): Secrets {
  const from = reader(env);
  const engines = [config.eventStore, config.queue, config.readModels];
  const embedded = engines.some(({ engine }) => engine === "embedded");
  const sasl = config.queue.engine === "kafka" && config.queue.sasl !== null;
  /** Refuses an empty value, as everywhere; any other is ignored. */
  const unused = (variable: Variable) => from.optional(variable, () => null);
  return {
    masterKey: embedded
      ? from.optional("RELAY_MASTER_KEY", key)
      : from.required("RELAY_MASTER_KEY", "no engine is embedded and so no data folder holds one", key),
    oldMasterKeys: from.optional("RELAY_OLD_MASTER_KEYS", list(key)) ?? [],
    turnstileSecret: config.turnstile
      ? from.required("RELAY_TURNSTILE_SECRET", "RELAY_OFFERING is cloud", String)
      : unused("RELAY_TURNSTILE_SECRET"),
    kafkaPassword: sasl
      ? from.required("RELAY_KAFKA_SASL_PASSWORD", "RELAY_KAFKA_SASL_MECHANISM is set", String)
      : unused("RELAY_KAFKA_SASL_PASSWORD"),
  };
}

function key(text: string): Uint8Array {
  const bytes = Buffer.from(text, "base64");
  // Node skips characters that are not base64: only a text that encodes back to itself was read as a whole.
  if (bytes.length !== 32 || bytes.toString("base64") !== text) fail("must be the base64 of exactly 32 bytes");
  return bytes;
}
