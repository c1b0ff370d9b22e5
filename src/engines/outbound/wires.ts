import { isIP, type Socket } from "node:net";
import type { OutboundProxy } from "../../kernel/domain/outbound-proxy.ts";
import { dialDirectly, raceAddresses, type Dial } from "./address-race.ts";
import type { AddressRules } from "./address-rules.ts";
import { CallFailure, connectionFailure } from "./failures.ts";
import type { Resolve } from "./resolver.ts";
import { lateProxy, tunnelsThrough, watchUnused } from "./tunnel.ts";

/** `resolve` is called for each new connection to a name. */
export interface WireSettings {
  readonly allows: AddressRules;
  readonly resolve: Resolve;
  /** For name resolution and the connection together. */
  readonly connectTimeoutMs: number;
  /** Null or absent: connections lead to the receivers themselves. */
  readonly proxy?: OutboundProxy | null;
}

/** The host and port of a call, as a URL has them; an IPv6 address without brackets. */
export interface WireTarget {
  readonly hostname: string;
  /** Empty for 443. */
  readonly port: string;
}

interface Prepared {
  readonly socket: Socket;
  readonly unwatch: () => void;
}

/** How long a prepared tunnel waits for its call. */
const preparedMs = 4_000;

/** Opens connections to allowed addresses of hosts, directly or through the outbound proxy. */
export class Wires {
  readonly #settings: WireSettings;
  readonly #dial: Dial;
  /** How many connections to each target wait for the proxy. */
  readonly #atProxy = new Map<string, number>();
  readonly #prepared = new Map<string, Prepared>();

  constructor(settings: WireSettings) {
    this.#settings = settings;
    this.#dial = settings.proxy ? tunnelsThrough(settings.proxy) : dialDirectly;
  }

  /** Calls `opened` or `failed` once, after returning. Returns a function that gives the connection up. */
  open(target: WireTarget, opened: (socket: Socket) => void, failed: (failure: CallFailure) => void): () => void {
    const { connectTimeoutMs, allows, proxy } = this.#settings;
    let pending = true;
    let isAtProxy = false;
    let abandon = () => {};
    const settle = () => {
      pending = false;
      clearTimeout(timer);
      abandon();
      abandon = () => {};
    };
    const fail = (failure: CallFailure) => {
      if (!pending) return;
      settle();
      failed(failure);
    };
    const late = () => fail(isAtProxy
      ? lateProxy(connectTimeoutMs) : new CallFailure("timeout", `no connection within ${connectTimeoutMs} ms`));
    const timer = setTimeout(late, connectTimeoutMs);
    const dial = async () => {
      const addresses = await allowedAddresses(this.#settings, target.hostname);
      if (!pending) return;
      isAtProxy = Boolean(proxy);
      const racers = { addresses, port: portOf(target), withinMs: connectTimeoutMs, dial: this.#dial };
      const left = this.#begin(target);
      const end = raceAddresses(racers, (socket) => {
        abandon = left;
        settle();
        // Before the first byte of the handshake.
        if (proxy || (socket.remoteAddress && allows(socket.remoteAddress))) return opened(socket);
        socket.destroy();
        failed(refused());
      }, (error) => fail(connectionFailure(error)));
      abandon = () => {
        left();
        end();
      };
    };
    dial().catch((error: unknown) => fail(connectionFailure(error)));
    return settle;
  }

  /** Opens a tunnel through the proxy for the next call; the proxy's failure, or null also where others failed. */
  prepare(target: WireTarget): Promise<string | null> {
    return new Promise((resolve) => {
      this.open(target, (socket) => {
        this.#keep(keyOf(target), socket);
        resolve(null);
      }, ({ reason, message }) => resolve(reason === "proxy" ? message : null));
    });
  }

  /** A tunnel that was {@link prepare prepared}. */
  take(target: WireTarget): Socket | undefined {
    const key = keyOf(target);
    const prepared = this.#prepared.get(key);
    this.#prepared.delete(key);
    prepared?.unwatch();
    return prepared?.socket;
  }

  /** Whether a connection to a target waits for the proxy. */
  isAtProxy(target: WireTarget): boolean {
    return this.#atProxy.has(keyOf(target));
  }

  close(): void {
    for (const { socket } of this.#prepared.values()) socket.destroy();
  }

  #begin(target: WireTarget): () => void {
    if (!this.#settings.proxy) return () => {};
    const key = keyOf(target);
    this.#atProxy.set(key, (this.#atProxy.get(key) ?? 0) + 1);
    return () => {
      const left = (this.#atProxy.get(key) ?? 1) - 1;
      if (left > 0) this.#atProxy.set(key, left);
      else this.#atProxy.delete(key);
    };
  }

  #keep(key: string, socket: Socket): void {
    this.#prepared.get(key)?.socket.destroy();
    const drop = () => {
      if (this.#prepared.get(key)?.socket === socket) this.#prepared.delete(key);
      unwatch();
      socket.destroy();
    };
    const stop = watchUnused(socket, drop);
    const timer = setTimeout(drop, preparedMs);
    const unwatch = () => {
      stop();
      clearTimeout(timer);
    };
    this.#prepared.set(key, { socket, unwatch });
  }
}

function keyOf({ hostname, port }: WireTarget): string {
  return `${hostname}:${port}`;
}

function portOf({ port }: WireTarget): number {
  return port === "" ? 443 : Number(port);
}

/** The machine itself (RFC 6761); one allowed family (`127.0.0.0/8`) is enough for it. */
const localhost = /^(.+\.)?localhost\.?$/;

/** Copied, so that only checked addresses are connected to. One refused address refuses all. */
async function allowedAddresses({ allows, resolve }: WireSettings, hostname: string): Promise<readonly string[]> {
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
