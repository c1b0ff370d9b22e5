import { lookup, Resolver } from "node:dns/promises";
import { setTimeout } from "node:timers/promises";
import pLimit from "p-limit";

/** All addresses of a name. Rejects if it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** A system lookup blocks one of the four threads of Node's shared pool. */
const threads = 2;
/** Well above the time of a working system lookup. */
const patienceMs = 500;

interface Sources {
  /** With hosts file and search domains. */
  readonly system: Resolve;
  readonly dns: Resolve;
}

/** Asks the system and DNS: a name whose server blocks a thread for seconds must not block other names. */
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

/** Null after the patience. */
function withinPatience<Value>(promise: Promise<Value>): Promise<Value | null> {
  return Promise.race([promise, setTimeout(patienceMs, null, { ref: false })]);
}
