import { isIP, type Socket } from "node:net";
import { connect, type SecureContext, type TLSSocket } from "node:tls";
import { Agent, type buildConnector, type Dispatcher } from "undici";
import { readAnswers } from "./answer-reader.ts";
import { CallFailure, certificateFailure, handshakeFailure } from "./failures.ts";
import { Wires, type WireSettings } from "./wires.ts";

/** `connectTimeoutMs` holds for the connection, then again for the TLS handshake. */
export interface GuardSettings extends WireSettings {
  readonly secureContext: SecureContext;
}

/** How long an unused connection is kept, and at most if the receiver asks for longer. */
const keepAliveMs = 4_000;
const keepAliveMaxMs = 10_000;
/** The age up to which a connection takes new requests: a changed address takes effect within a minute. */
const usedForMs = 50_000;
const maxHeadBytes = 16_384;
/** Some receivers ask for a second handshake; each costs as much processor time here as there. */
const maxHandshakes = 3;

/** An undici agent that always applies the address rules. Origins share nothing, so none waits for another. */
export function createGuardedAgent(settings: GuardSettings, wires = new Wires(settings)): Dispatcher {
  return new Agent({
    connect: guardedConnect(settings, wires),
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMaxMs,
    clientTtl: usedForMs,
    maxHeaderSize: maxHeadBytes,
    // The caller's total deadline also holds against a receiver that sends byte by byte.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/** Connects only to resolved addresses that the rules allow. */
function guardedConnect(settings: GuardSettings, wires: Wires): buildConnector.connector {
  const { connectTimeoutMs } = settings;
  return ({ protocol, hostname, port }, callback) => {
    let over = false;
    let abandon = () => {};
    let timer: NodeJS.Timeout | undefined;

    const succeed = (connected: TLSSocket) => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      callback(null, connected);
    };
    const fail = (failure: CallFailure) => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      abandon();
      callback(failure, null);
    };
    const late = () =>
      fail(new CallFailure("timeout", `no connection within ${connectTimeoutMs} ms: the TLS handshake did not end`));
    const shake = (wire: Socket) => {
      abandon = () => wire.destroy();
      timer = setTimeout(late, connectTimeoutMs);
      handshake(settings, hostname, wire, succeed, fail);
    };
    if (protocol !== "https:") return fail(new CallFailure("connection", "only https is spoken"));
    const prepared = wires.take({ hostname, port });
    if (prepared) shake(prepared);
    else wires.open({ hostname, port }, shake, fail);
  };
}

function handshake(
  { secureContext }: GuardSettings,
  host: string,
  wire: Socket,
  succeed: (socket: TLSSocket) => void,
  fail: (failure: CallFailure) => void,
): void {
  wire.setNoDelay(true);
  const socket = connect({
    socket: wire,
    host,
    // TLS takes no addresses, and names without a final dot.
    servername: isIP(host) === 0 ? host.replace(/\.$/, "") : "",
    secureContext,
    ALPNProtocols: ["http/1.1"],
  });
  let handshakes = 0;
  socket.on("secureConnect", () => {
    handshakes += 1;
    if (handshakes > maxHandshakes) socket.destroy(new CallFailure("tls", "the receiver asks for too many handshakes"));
    if (handshakes > 1) return;
    readAnswers(socket);
    succeed(socket);
  });
  socket.on("error", (error) => {
    fail(handshakeFailure(error));
    const refusal = certificateFailure(error);
    // The end of the connection follows, and would hide the alert.
    if (refusal) socket.destroy(refusal);
  });
  socket.once("close", () => fail(new CallFailure("connection", "the connection was closed before an answer")));
}
