/** A broker that tests may share: what one breaks it repairs before it ends. */
export interface KafkaUnderTest {
  readonly brokers: string[];
  /** Engine, version and where it came from. */
  readonly description: string;
  /** Whether the methods below can do anything: a broker named by the environment is not this process's to break. */
  readonly breakable: boolean;
  /** A way in past which a test may put a proxy; null with brokers named by the environment. */
  readonly detour: Detour | null;
  /** Gives the broker back as it was found. It ends with the process, whatever way that ends. */
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** On the same port and data, after a kill; resolves when it answers. */
  restart(): Promise<void>;
  /** SIGSTOP. */
  freeze(): Promise<void>;
  /** SIGCONT. */
  thaw(): Promise<void>;
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
  readonly detour: Detour;
}
