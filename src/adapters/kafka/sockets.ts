import type { ISocketFactory } from "kafkajs";
import { connect, isIP } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";

const keepAliveMs = 60_000;
/** A name nobody can have (RFC 2606). */
const suffix = ".ipv6.invalid";

/** The driver cuts host:port at the first colon: an IPv6 address passes it under a name that {@link sockets} know. */
export function seedOf(broker: string): string {
  const [, address, port] = /^\[([^\]]+)\]:(\d+)$/.exec(broker) ?? [];
  return address === undefined ? broker : `${Buffer.from(address).toString("hex")}${suffix}:${port}`;
}

/** Opens sockets as the driver does, also to names that {@link seedOf} made; `tls` null: in clear. */
export function sockets(tls: ConnectionOptions | null): ISocketFactory {
  return ({ host: given, port, onConnect }) => {
    const host = given.endsWith(suffix) ? Buffer.from(given.slice(0, -suffix.length), "hex").toString() : given;
    const named = isIP(host) === 0 ? { servername: host } : {};
    const socket = tls === null
      ? connect({ host, port }, onConnect)
      : connectTls({ host, port, ...named, ...tls }, onConnect);
    return socket.setKeepAlive(true, keepAliveMs);
  };
}
