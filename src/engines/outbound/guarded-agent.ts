import { isIP, type Socket } from "node:net";
import { connect, type SecureContext, type TLSSocket } from "node:tls";
import { Agent, type buildConnector, type Dispatcher } from "undici";
import { raceAddresses } from "./address-race.ts";
import type { AddressRules } from "./address-rules.ts";
import { readAnswers } from "./answer-reader.ts";
import { CallFailure, connectionFailure, handshakeFailure } from "./failures.ts";
import type { Resolve } from "./resolver.ts";

/** `resolve` is called for each new connection to a name. */
export interface GuardSettings {
  readonly allows: AddressRules;
  readonly resolve: Resolve;
  /** For name resolution and TCP together, then again for the TLS handshake. */
  readonly connectTimeoutMs: number;
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
export function createGuardedAgent(settings: GuardSettings): Dispatcher {
  return new Agent({
    connect: guardedConnect(settings),
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
function guardedConnect(settings: GuardSettings): buildConnector.connector {
  const { allows, connectTimeoutMs } = settings;
  return ({ protocol, hostname, port }, callback) => {
    let abandon = () => {};
    let over = false;
    let missing = "";

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
    const late = () => fail(new CallFailure("timeout", `no connection within ${connectTimeoutMs} ms${missing}`));
    const timer = setTimeout(late, connectTimeoutMs);

    const shake = (wire: Socket) => {
      abandon = () => wire.destroy();
      // Before the first byte of the handshake.
      if (!wire.remoteAddress || !allows(wire.remoteAddress)) return fail(refused());
      missing = ": the TLS handshake did not end";
      timer.refresh();
      handshake(settings, hostname, wire, succeed, fail);
    };
    const dial = async () => {
      if (protocol !== "https:") throw new CallFailure("connection", "only https is spoken");
      const addresses = await allowedAddresses(settings, hostname);
      if (over) return;
      const racers = { addresses, port: port === "" ? 443 : Number(port), withinMs: connectTimeoutMs };
      abandon = raceAddresses(racers, shake, (error) => fail(connectionFailure(error)));
    };
    dial().catch((error: unknown) => fail(connectionFailure(error)));
  };
}

/** The machine itself (RFC 6761); one allowed family (`127.0.0.0/8`) is enough for it. */
const localhost = /^(.+\.)?localhost\.?$/;

/** Copied, so that only checked addresses are connected to. One refused address refuses all. */
async function allowedAddresses({ allows, resolve }: GuardSettings, hostname: string): Promise<readonly string[]> {
  const literal = isIP(hostname) !== 0;
  const all = literal ? [hostname] : [...(await resolvedBy(resolve, hostname))];
  const addresses = localhost.test(hostname) ? all.filter(allows) : all;
  if (addresses.length === 0 || !addresses.every(allows)) throw refused();
  return addresses;
}

async function resolvedBy(resolve: Resolve, hostname: string): Promise<readonly string[]> {
  try {
    return await resolve(hostname);
  } catch {
    throw new CallFailure("connection", "the host name does not resolve");
  }
}

/** Without the address: a name's private addresses are not disclosed. */
function refused(): CallFailure {
  return new CallFailure("address refused", "address refused: the host has an address that may not be called");
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
  socket.on("error", (error) => fail(handshakeFailure(error)));
  socket.once("close", () => fail(new CallFailure("connection", "the connection was closed before an answer")));
}
