import type { Engine } from "../engine.ts";

/** A broker that tests may share: `stop` gives it back as it was found, and it ends with the process, whatever way. */
export interface KafkaUnderTest extends Engine {
  readonly brokers: string[];
  /** Whether anything can be done to it: a broker named by the environment is not this process's to break. */
  readonly breakable: boolean;
  /** A way in past which a test may put a proxy; null with brokers named by the environment. */
  readonly detour: Detour | null;
  /** The way in for clients that speak TLS and prove who they are; null where it was not set up. */
  readonly secure: Secure | null;
}

/** What a client needs for the listener that asks for TLS and SASL (plain and both kinds of SCRAM). */
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
