import { isIP } from "node:net";
import { createSecureContext, getCACertificates } from "node:tls";
import { LRUCache } from "lru-cache";
import type { OutboundProxy } from "../../kernel/domain/outbound-proxy.ts";
import type { OutboundClient, OutboundFailure } from "../../kernel/ports/outbound.ts";
import { createAddressRules } from "./address-rules.ts";
import { Exchange, type OutboundResult } from "./exchange.ts";
import type { CallFailure } from "./failures.ts";
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
  const agent = createGuardedAgent({
    ...wireSettings,
    // One for all connections, since it reads every trusted certificate. Any of these ends a chain, as with curl.
    secureContext: createSecureContext({
      allowPartialTrustChain: true,
      ...(extraCa === null ? {} : { ca: [...getCACertificates("default"), extraCa] }),
    }),
  }, wires);

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
    post({ url, headers, body, keepBytes, timeoutMs, deadlineMs = deliveryTimeoutMs }) {
      const called = target(url);
      if (!called) return Promise.resolve(malformed);
      return new Promise((resolve) => {
        const givenMs = Math.min(timeoutMs, deadlineMs);
        const settle = proxy === null ? resolve : (result: OutboundResult) => {
          const isLate = !result.answered && result.reason === "timeout" && !result.connected;
          resolve(isLate && wires.isAtProxy(called) ? failureOf(lateProxy(givenMs)) : result);
        };
        const exchange = new Exchange(keepBytes, givenMs, deadlineMs, settle);
        const { origin, path } = called;
        agent.dispatch({ origin, path, method: "POST", headers, body }, exchange);
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
      await agent.close();
    },
  };
}

function failureOf({ reason, message }: CallFailure): OutboundFailure {
  return { answered: false, reason, error: message, connected: false };
}

const malformed: OutboundFailure = {
  answered: false, reason: "connection", error: "the address is not an https URL", connected: false,
};
