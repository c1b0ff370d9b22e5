import type { OutboundProxy } from "../../kernel/domain/outbound-proxy.ts";
import type { Config } from "./config.ts";
import { fail, httpProxy, list } from "./parse.ts";
import { reader, type Environment, type Variable } from "./variables.ts";

/** Settings that must never be printed. */
export interface Secrets {
  /** 32 bytes; null: the key in the data folder. */
  readonly masterKey: Uint8Array | null;
  /** 32 bytes each; keys may still be wrapped under them. */
  readonly oldMasterKeys: readonly Uint8Array[];
  /** Null unless the offering is cloud. */
  readonly turnstileSecret: string | null;
  /** Null without SASL. */
  readonly kafkaPassword: string | null;
  /** With its name and password. Null: calls go to the receivers directly. */
  readonly outboundProxy: OutboundProxy | null;
}

/** Reads the secrets that a configuration needs. Throws ConfigError, without the secret. */
export function readSecrets(env: Environment, config: Config): Secrets {
  const from = reader(env);
  const engines = [config.eventStore, config.queue, config.readModels];
  const embedded = engines.some(({ engine }) => engine === "embedded");
  const sasl = config.queue.engine === "kafka" && config.queue.sasl !== null;
  // Refuses an empty value, and ignores any other.
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
    outboundProxy: from.optional("RELAY_OUTBOUND_PROXY", httpProxy),
  };
}

function key(text: string): Uint8Array {
  const bytes = Buffer.from(text, "base64");
  // Node skips invalid characters: only a text that encodes back to itself is valid.
  if (bytes.length !== 32 || bytes.toString("base64") !== text) fail("must be the base64 of exactly 32 bytes");
  return bytes;
}
