import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ProcessRole } from "../../src/main/config/config.ts";
import { ApiClient } from "./api-client.ts";
import type { Receiver } from "./receiver.ts";
import type { Life, RelayProcess } from "./relay-process.ts";
import type { Reachable } from "./relay-process-load.ts";
import { Fleet, outsideEngines } from "./topologies.ts";

const guide = join(import.meta.dirname, "../../docs/operating/upgrading.md");

/** The roles in the order in which the guide to upgrades replaces them. */
export const orderOfRoles = [...readFileSync(guide, "utf8").matchAll(/^\d\. `(\w+)`/gm)]
  .map(([, role]) => role as ProcessRole);

/** A relay whose program is replaced while producers post. */
export interface ReplacedRelay extends Reachable {
  /** All processes so far. */
  readonly lives: readonly Life[];
  /**
   * Replaces the program by that of a later release, as the guide says. `quickly`: the processes of a role all at once,
   * except for `api`.
   */
  forward(program: string, quickly?: boolean): Promise<void>;
  /** Replaces it by that of an earlier one, as the guide says. */
  back(program: string, quickly?: boolean): Promise<void>;
  /** The same caller of the API, at a running process. */
  at(client: ApiClient): ApiClient;
  /** The last lines of its output. */
  tail(): string;
  close(): Promise<void>;
}

/** On the embedded engines: it is stopped, and the other program is started. */
export function onEmbeddedEngines(relay: RelayProcess): ReplacedRelay {
  const replace = async (program: string) => {
    await relay.sigterm();
    relay.use(program);
    await relay.start();
  };
  return {
    get url() {
      return relay.url;
    },
    get closed() {
      return relay.closed;
    },
    lives: relay.lives,
    ready: () => relay.ready(),
    forward: (program) => replace(program),
    back: replace,
    at: (client) => relay.at(client),
    tail: () => relay.tail(),
    close: () => relay.close(),
  };
}

/**
 * On outside engines, two processes of each role: they are replaced one by one, role by role, but all old projectors
 * end before the first new one starts.
 */
export async function startApart(
  context: Mocha.Context, receiver: Receiver, env: Readonly<Record<string, string>>,
): Promise<ReplacedRelay> {
  const engines = await outsideEngines(context);
  const fleet = new Fleet(receiver, { ...engines.env, ...env });
  const replace = async (roles: readonly ProcessRole[], program: string, quickly = false) => {
    const end = (process: RelayProcess) => process.sigterm();
    const start = (process: RelayProcess) => {
      process.use(program);
      return process.start();
    };
    for (const role of roles) {
      const processes = fleet.of(role);
      if (role === "projector" || (quickly && role !== "api")) {
        await Promise.all(processes.map(end));
        await Promise.all(processes.map(start));
      } else {
        for (const process of processes) {
          await end(process);
          await start(process);
        }
      }
    }
  };
  const close = async () => {
    await fleet.close();
    await engines.close();
  };
  try {
    await fleet.start();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    get url() {
      return fleet.url;
    },
    get closed() {
      return fleet.closed;
    },
    get lives() {
      return fleet.all.flatMap(({ lives }) => lives);
    },
    ready: () => fleet.ready(),
    forward: (program, quickly) => replace(orderOfRoles, program, quickly),
    back: (program, quickly) => replace(orderOfRoles.toReversed(), program, quickly),
    at: (client) => new ApiClient(fleet.url, client.headers),
    tail: () => fleet.all.map((process) => process.tail()).join("\n"),
    close,
  };
}
