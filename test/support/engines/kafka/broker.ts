import type { Engine } from "../engine.ts";

/** A broker that tests may share: `stop` gives it back as it was found. It ends with the process in any case. */
export interface KafkaUnderTest extends Engine {
  readonly brokers: string[];
  /** Whether it may be killed and frozen: a broker named by the environment may not. */
  readonly breakable: boolean;
  /** A listener in front of which a test may put a proxy; null with brokers named by the environment. */
  readonly detour: Detour | null;
  /** The listener for clients with TLS and SASL, or null. */
  readonly secure: Secure | null;
}

/** A client's settings for the listener with TLS and SASL (plain and both kinds of SCRAM). */
export interface Secure {
  readonly brokers: string[];
  /** The authority that vouches for the broker. */
  readonly caPem: string;
  readonly username: string;
  readonly password: string;
}

/** A listener of the broker at the port `to`, which tells its clients that it is at the port `from`. */
export interface Detour {
  readonly from: number;
  readonly to: number;
}

/** Ports that nothing else on this machine uses. */
export interface Ports {
  readonly direct: number;
  readonly controller: number;
  readonly secure: number;
  readonly detour: Detour;
}
