import { lookup, Resolver } from "node:dns/promises";

/** The addresses of a name, all of them. Rejects when it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** The system's lookup blocks a thread of Node's shared pool of four for as long as it waits. */
const threads = 2;
/** What a working system lookup stays well below, milliseconds. */
const patienceMs = 500;

/**
 * Resolves as the system does (hosts file, search domains). A name server that does not answer keeps a
 * thread waiting for seconds, and anyone can register a name with such a server: so only few system
 * lookups run at once, and when one is slow or none is free, DNS is asked directly, without a thread.
 */
export function createResolver(): Resolve {
  const dns = new Resolver({ timeout: 2000, tries: 2 });
  const underWay = new Map<string, Promise<readonly string[]>>();
  let busy = 0;

  const askSystem = async (host: string) => {
    busy += 1;
    try {
      return (await lookup(host, { all: true })).map(({ address }) => address);
    } finally {
      busy -= 1;
    }
  };

  const askDns = async (host: string) => {
    const answers = await Promise.allSettled([dns.resolve6(host), dns.resolve4(host)]);
    const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (addresses.length === 0) throw new Error("the name has no address");
    return addresses;
  };

  const ask = async (host: string) => {
    if (busy >= threads) return askDns(host);
    const system = askSystem(host);
    const timely = await withinPatience(system);
    return timely ?? Promise.any([system, askDns(host)]);
  };

  return async (host) => {
    const asked = underWay.get(host) ?? ask(host).finally(() => underWay.delete(host));
    underWay.set(host, asked);
    return asked;
  };
}

/** What the promise comes to, or null when that takes too long. */
async function withinPatience<Value>(promise: Promise<Value>): Promise<Value | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, patienceMs, null);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
