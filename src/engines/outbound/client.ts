import { isIP } from "node:net";
import { createSecureContext, getCACertificates } from "node:tls";
import { LRUCache } from "lru-cache";
import type { Dispatcher } from "undici";
import type { OutboundProxy } from "../../kernel/domain/outbound-proxy.ts";
import type { ClientCertificate, OutboundClient, OutboundFailure } from "../../kernel/ports/outbound.ts";
import { createAddressRules } from "./address-rules.ts";
import { Exchange, type OutboundResult } from "./exchange.ts";
import { CallFailure } from "./failures.ts";
import { createGuardedAgent } from "./guarded-agent.ts";
import { createResolver, type Resolve } from "./resolver.ts";
import { lateProxy } from "./tunnel.ts";
import { Wires, type WireTarget } from "./wires.ts";

/** `resolve`: by default {@link createResolver}. */
export interface OutboundSettings {
  /** For name resolution and TCP together, then again for the TLS handshake. */
  readonly connectTimeoutMs: number;
  readonly deliveryTimeoutMs: number;
  /** CIDR networks that may be reached although they are not public. */
  readonly allowedNetworks: readonly string[];
  /** PEM of further trusted certificates: authorities, intermediate ones, or a receiver's own. */
  readonly extraCa: string | null;
  readonly resolve?: Resolve;
  /** Null or absent: calls go to the receivers directly. */
  readonly proxy?: OutboundProxy | null;
}

interface Target extends WireTarget {
  readonly origin: string;
  readonly path: string;
}

const targetsKept = 1_000;
/** Client certificates with connections: with further trusted certificates, each takes about 1.5 MB. */
const certificatesKept = 100;

/** The outbound client on undici. Throws RangeError for a network that is not CIDR, and for an invalid PEM. */
export function createOutboundClient(settings: OutboundSettings): OutboundClient {
  const { connectTimeoutMs, deliveryTimeoutMs, extraCa, proxy = null } = settings;
  const allows = createAddressRules(settings.allowedNetworks);
  const wireSettings = {
    allows,
    connectTimeoutMs: Math.min(connectTimeoutMs, deliveryTimeoutMs),
    resolve: settings.resolve ?? createResolver(),
    proxy,
  };
  const wires = new Wires(wireSettings);
  // One for all connections with the same client certificate, or without one, since it reads every trusted certificate.
  const agentWith = (pair?: ClientCertificate) => createGuardedAgent({
    ...wireSettings,
    secureContext: createSecureContext({
      // Any trusted certificate ends a chain, as with curl.
      allowPartialTrustChain: true,
      ...(extraCa === null ? {} : { ca: [...getCACertificates("default"), extraCa] }),
      ...(pair && { cert: pair.certificate, key: pair.privateKey }),
    }),
  }, wires);
  const agent = agentWith();
  const agents = new LRUCache<string, Dispatcher>({ max: certificatesKept, dispose: (unused) => void unused.close() });
  let isClosed = false;
  /** Null for a certificate that TLS does not take. */
  const agentFor = (pair: ClientCertificate | null): Dispatcher | null => {
    if (!pair || isClosed) return agent;
    const known = agents.get(pair.id);
    if (known) return known;
    try {
      const made = agentWith(pair);
      agents.set(pair.id, made);
      return made;
    } catch {
      return null;
    }
  };

  const targets = new LRUCache<string, Target>({ max: targetsKept });
  const target = (text: string): Target | null => {
    const known = targets.get(text);
    if (known) return known;
    const url = URL.parse(text);
    if (url?.protocol !== "https:") return null;
    const { origin, hostname, port, pathname, search } = url;
    const parsed = { origin, hostname: hostname.replace(/^\[|\]$/g, ""), port, path: pathname + search };
    targets.set(text, parsed);
    return parsed;
  };

  return {
    post({ url, headers, body, keepBytes, timeoutMs, deadlineMs = deliveryTimeoutMs, clientCertificate = null }) {
      const called = target(url);
      if (!called) return Promise.resolve(malformed);
      const dispatcher = agentFor(clientCertificate);
      if (!dispatcher) return Promise.resolve(unusable);
      return new Promise((resolve) => {
        const givenMs = Math.min(timeoutMs, deadlineMs);
        const settle = proxy === null ? resolve : (result: OutboundResult) => {
          const isLate = !result.answered && result.reason === "timeout" && !result.connected;
          resolve(isLate && wires.isAtProxy(called) ? failureOf(lateProxy(givenMs)) : result);
        };
        const exchange = new Exchange(keepBytes, givenMs, deadlineMs, settle);
        const { origin, path } = called;
        dispatcher.dispatch({ origin, path, method: "POST", headers, body }, exchange);
      });
    },

    refusalOf(url) {
      const called = target(url);
      if (!called) return "is not an https URL";
      const { hostname } = called;
      if (isIP(hostname) === 0 || allows(hostname)) return null;
      return "its host is an address that may not be called: it is not public";
    },

    ...(proxy !== null && {
      prepare: async (url: string) => {
        const called = target(url);
        return called && wires.prepare(called);
      },
    }),

    async close() {
      wires.close();
      isClosed = true;
      const used = [agent, ...agents.values()];
      await Promise.all(used.map((one) => one.close()));
    },
  };
}

function failureOf({ reason, message }: CallFailure): OutboundFailure {
  return { answered: false, reason, error: message, connected: false };
}

const unusable = failureOf(new CallFailure("tls", "the client certificate cannot be used for TLS"));

const malformed: OutboundFailure = {
  answered: false, reason: "connection", error: "the address is not an https URL", connected: false,
};
