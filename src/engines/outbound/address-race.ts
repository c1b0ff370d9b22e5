import { isIPv6, Socket } from "node:net";

/** A tenant could register a name with thousands of addresses. */
const mostAddresses = 32;
const headStartMs = 250;
/** Errors of a machine without a route: any other says more about the receiver. */
const unroutable: ReadonlySet<unknown> = new Set([
  "ENETUNREACH", "EHOSTUNREACH", "ENETDOWN", "EADDRNOTAVAIL", "EAFNOSUPPORT",
]);

export interface Racers {
  readonly addresses: readonly string[];
  readonly port: number;
  readonly withinMs: number;
}

/**
 * Connects to the address that answers first (Happy Eyeballs, RFC 8305). Each address starts 250 ms after the one
 * before, at once after a failure, and sooner if there are many: the last has two thirds of the time. Calls `won` or
 * `lost` once, after returning. Returns a function that ends the race.
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

/** Families in turn, the first address's first; the order within a family stays. */
function alternating(addresses: readonly string[]): string[] {
  const startsWithIpv6 = isIPv6(addresses[0] ?? "");
  const first = addresses.filter((address) => isIPv6(address) === startsWithIpv6);
  const second = addresses.filter((address) => isIPv6(address) !== startsWithIpv6);
  return first.flatMap((address, index) => [address, ...second.slice(index, index + 1)]).concat(
    second.slice(first.length));
}
