import { isIPv6, Socket } from "node:net";

/** The most addresses tried for one name: a tenant could register a name with thousands. */
const mostAddresses = 32;
/** How long an address is tried alone before the next one is tried beside it, milliseconds. */
const headStartMs = 250;
/** Errors of a machine without a route to an address: any other error says more about the receiver. */
const unroutable: ReadonlySet<unknown> = new Set([
  "ENETUNREACH", "EHOSTUNREACH", "ENETDOWN", "EADDRNOTAVAIL", "EAFNOSUPPORT",
]);

/** The addresses of one host, at least one, and the time for connecting to any of them. */
export interface Racers {
  readonly addresses: readonly string[];
  readonly port: number;
  readonly withinMs: number;
}

/**
 * Connects to the address that answers first (Happy Eyeballs, RFC 8305). Families alternate. Each address is tried
 * 250 ms after the one before, or at once when one fails; earlier attempts go on. Many addresses follow each other
 * sooner, so that the last one still has two thirds of the time.
 *
 * Calls `won` or `lost` once, never before it returns; the winner's socket is then the caller's. Returns a function
 * that ends the race early.
 */
export function raceAddresses(
  { addresses, port, withinMs }: Racers,
  won: (socket: Socket) => void,
  lost: (error: Error) => void,
): () => void {
  const waiting = alternating(addresses).slice(0, mostAddresses);
  const stepMs = Math.min(headStartMs, withinMs / 3 / waiting.length);
  const sockets = new Set<Socket>();
  const errors: NodeJS.ErrnoException[] = [];
  let next: NodeJS.Timeout | undefined;

  const begin = () => {
    clearTimeout(next);
    const address = waiting.shift();
    if (address === undefined) return;
    const socket = new Socket();
    sockets.add(socket);
    socket.on("error", (error) => {
      if (!sockets.delete(socket)) return;
      errors.push(error);
      if (waiting.length > 0) begin();
      else if (sockets.size === 0) lost(errors.find(({ code }) => !unroutable.has(code)) ?? error);
    });
    socket.once("connect", () => {
      sockets.delete(socket);
      end();
      won(socket);
    });
    socket.connect({ host: address, port });
    if (waiting.length > 0) next = setTimeout(begin, stepMs);
  };
  const end = () => {
    clearTimeout(next);
    waiting.length = 0;
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  begin();
  return end;
}

/** The families in turn, that of the first address first; within a family the order stays. */
function alternating(addresses: readonly string[]): string[] {
  const startsWithIpv6 = isIPv6(addresses[0] ?? "");
  const first = addresses.filter((address) => isIPv6(address) === startsWithIpv6);
  const second = addresses.filter((address) => isIPv6(address) !== startsWithIpv6);
  return first.flatMap((address, index) => [address, ...second.slice(index, index + 1)]).concat(
    second.slice(first.length));
}
