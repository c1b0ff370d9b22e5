import { isIPv6, Socket } from "node:net";
import { CallFailure } from "./failures.ts";

/** A tenant could register a name with thousands of addresses. */
const mostAddresses = 32;
const headStartMs = 250;
/** Errors of a machine without a route: any other says more about the receiver, as an answer of the proxy does. */
const unroutable: ReadonlySet<unknown> = new Set([
  "ENETUNREACH", "EHOSTUNREACH", "ENETDOWN", "EADDRNOTAVAIL", "EAFNOSUPPORT",
]);

/**
 * Opens a connection to an address. Calls `opened` or `failed` once, after returning. Returns a function that gives the
 * connection up.
 */
export type Dial = (
  target: { readonly address: string; readonly port: number },
  opened: (socket: Socket) => void,
  failed: (error: NodeJS.ErrnoException) => void,
) => () => void;

/** Connects to the address itself. */
export const dialDirectly: Dial = ({ address, port }, opened, failed) => {
  const socket = new Socket();
  socket.on("error", failed);
  socket.once("connect", () => opened(socket));
  socket.connect({ host: address, port });
  return () => socket.destroy();
};

export interface Racers {
  readonly addresses: readonly string[];
  readonly port: number;
  readonly withinMs: number;
  readonly dial?: Dial;
}

/**
 * Connects to the address that answers first (Happy Eyeballs, RFC 8305). Each address starts 250 ms after the one
 * before, at once after a failure, and sooner if there are many: the last has two thirds of the time. Calls `won` or
 * `lost` once, after returning. Returns a function that ends the race.
 */
export function raceAddresses(
  { addresses, port, withinMs, dial = dialDirectly }: Racers,
  won: (socket: Socket) => void,
  lost: (error: Error) => void,
): () => void {
  const waiting = alternating(addresses).slice(0, mostAddresses);
  const stepMs = Math.min(headStartMs, withinMs / 3 / waiting.length);
  const dialed = new Set<() => void>();
  const errors: NodeJS.ErrnoException[] = [];
  let next: NodeJS.Timeout | undefined;

  const begin = () => {
    clearTimeout(next);
    const address = waiting.shift();
    if (address === undefined) return;
    const giveUp = dial({ address, port }, (socket) => {
      dialed.delete(giveUp);
      end();
      won(socket);
    }, (error) => {
      if (!dialed.delete(giveUp)) return;
      errors.push(error);
      if (waiting.length > 0) begin();
      else if (dialed.size === 0) lost(errors.find(isTelling) ?? error);
    });
    dialed.add(giveUp);
    if (waiting.length > 0) next = setTimeout(begin, stepMs);
  };
  const end = () => {
    clearTimeout(next);
    waiting.length = 0;
    for (const giveUp of dialed) giveUp();
    dialed.clear();
  };
  begin();
  return end;
}

function isTelling(error: NodeJS.ErrnoException): boolean {
  return error instanceof CallFailure ? error.reason !== "proxy" : !unroutable.has(error.code);
}

/** Families in turn, the first address's first; the order within a family stays. */
function alternating(addresses: readonly string[]): string[] {
  const startsWithIpv6 = isIPv6(addresses[0] ?? "");
  const first = addresses.filter((address) => isIPv6(address) === startsWithIpv6);
  const second = addresses.filter((address) => isIPv6(address) !== startsWithIpv6);
  return first.flatMap((address, index) => [address, ...second.slice(index, index + 1)]).concat(
    second.slice(first.length));
}
