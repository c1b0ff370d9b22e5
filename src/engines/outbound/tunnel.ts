import { connect, isIPv6, type Socket } from "node:net";
import type { OutboundProxy } from "../../kernel/domain/outbound-proxy.ts";
import type { Dial } from "./address-race.ts";
import { CallFailure, connectionFailure } from "./failures.ts";

const maxHeadBytes = 16_384;
const endOfHead = "\r\n\r\n";
const answerLine = /^HTTP\/1\.[01] ([245]\d\d)(?:[ \r])/;

/** Opens tunnels through a proxy by CONNECT. The proxy gets the address: it resolves no name. */
export function tunnelsThrough(proxy: OutboundProxy): Dial {
  return ({ address, port }, opened, failed) => {
    const socket = connect({ host: proxy.host, port: proxy.port });
    socket.setNoDelay(true);
    const end = (failure: CallFailure) => {
      socket.off("readable", read);
      socket.destroy();
      failed(failure);
    };
    let head = Buffer.alloc(0);
    const read = () => {
      for (let piece; (piece = socket.read() as Buffer | null) !== null;) head = Buffer.concat([head, piece]);
      const length = head.indexOf(endOfHead) + endOfHead.length;
      if (length < endOfHead.length) {
        if (head.length > maxHeadBytes) end(proxyFailure("gave no valid answer to CONNECT"));
        return;
      }
      const failure = failureIn(head.toString("latin1", 0, length));
      if (failure) return end(failure);
      socket.off("readable", read);
      socket.off("end", closed);
      if (head.length > length) socket.unshift(head.subarray(length));
      opened(socket);
    };
    const closed = () => end(proxyFailure("closed the connection without a valid answer to CONNECT"));
    socket.once("connect", () => socket.write(connectTo(proxy, isIPv6(address) ? `[${address}]` : address, port)));
    socket.on("readable", read);
    socket.once("end", closed);
    socket.on("error", (error) => failed(proxyFailure(`cannot be used: ${connectionFailure(error).message}`)));
    return () => socket.destroy();
  };
}

function connectTo({ authorization }: OutboundProxy, host: string, port: number): string {
  const proof = authorization === null ? "" : `Proxy-Authorization: ${authorization}\r\n`;
  return `CONNECT ${host}:${port} HTTP/1.1\r\nHost: ${host}:${port}\r\n${proof}\r\n`;
}

/** The failure that an answer to CONNECT stands for; null for a tunnel. A 5xx is the receiver's, not the proxy's. */
function failureIn(head: string): CallFailure | null {
  const [, status] = answerLine.exec(head) ?? [];
  if (status === undefined) return proxyFailure("gave no valid answer to CONNECT");
  if (status.startsWith("2")) return null;
  if (status.startsWith("4")) return proxyFailure(`answered ${status} to CONNECT`);
  return new CallFailure("connection", `the connection failed: the outbound proxy answered ${status} to CONNECT`);
}

/** The failure of a proxy that gave no answer in time. */
export function lateProxy(withinMs: number): CallFailure {
  return proxyFailure(`gave no answer to CONNECT within ${withinMs} ms`);
}

/** A failure of the proxy itself, which says nothing about the receiver. */
function proxyFailure(what: string): CallFailure {
  return new CallFailure("proxy", `the outbound proxy ${what}`);
}

/** Calls `drop` as soon as an unused tunnel ends or gets bytes. Returns a function that stops the watch. */
export function watchUnused(socket: Socket, drop: () => void): () => void {
  socket.once("readable", drop).once("close", drop);
  return () => socket.off("readable", drop).off("close", drop);
}
