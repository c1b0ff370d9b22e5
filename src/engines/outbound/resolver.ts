import { lookup, Resolver } from "node:dns/promises";
import { setTimeout } from "node:timers/promises";
import pLimit from "p-limit";

/** The addresses of a name, all of them. Rejects when it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** The system's lookup blocks a thread of Node's shared pool of four for as long as it waits. */
const threads = 2;
/** Well above the time of a working system lookup, milliseconds. */
const patienceMs = 500;

/** Ways to resolve a name; tests replace them. */
interface Sources {
  /** As the system does: hosts file, search domains. */
  readonly system: Resolve;
  /** DNS itself, without a thread. */
  readonly dns: Resolve;
}

/**
 * Resolves as the system does. A name server that does not answer keeps a thread waiting for seconds, and anyone can
 * register a name with such a server: so only few system lookups run at once, and a name whose lookup does not start or
 * end soon is asked of DNS directly, too.
 */
export function createResolver({ system, dns }: Sources = machine()): Resolve {
  const turns = pLimit(threads);
  const underWay = new Map<string, Promise<readonly string[]>>();

  const ask = async (host: string) => {
    let wanted = true;
    const inTurn = turns(async () => (wanted ? system(host) : []));
    try {
      return (await withinPatience(inTurn)) ?? (await Promise.any([inTurn, dns(host)]));
    } finally {
      wanted = false;
    }
  };

  return async (host) => {
    const asked = underWay.get(host) ?? ask(host).finally(() => underWay.delete(host));
    underWay.set(host, asked);
    return asked;
  };
}

function machine(): Sources {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  return {
    system: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
    dns: async (host) => {
      const answers = await Promise.allSettled([resolver.resolve6(host), resolver.resolve4(host)]);
      const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
      if (addresses.length === 0) throw new Error("the name has no address");
      return addresses;
    },
  };
}

/** The promise's value, or null when it takes too long. */
function withinPatience<Value>(promise: Promise<Value>): Promise<Value | null> {
  return Promise.race([promise, setTimeout(patienceMs, null, { ref: false })]);
}
