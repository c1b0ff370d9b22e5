import { createSecureContext, getCACertificates } from "node:tls";
import { LRUCache } from "lru-cache";
import type { OutboundClient, OutboundFailure } from "../../kernel/ports/outbound.ts";
import { createAddressRules } from "./address-rules.ts";
import { Exchange } from "./exchange.ts";
import { createGuardedAgent } from "./guarded-agent.ts";
import { createResolver, type Resolve } from "./resolver.ts";

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
}

interface Target {
  readonly origin: string;
  readonly hostname: string;
  readonly path: string;
}

const targetsKept = 1_000;

/** The outbound client on undici. Throws RangeError for a network that is not CIDR, and for an invalid PEM. */
export function createOutboundClient(settings: OutboundSettings): OutboundClient {
  const { connectTimeoutMs, deliveryTimeoutMs, extraCa } = settings;
  const allows = createAddressRules(settings.allowedNetworks);
  const agent = createGuardedAgent({
    allows,
    connectTimeoutMs: Math.min(connectTimeoutMs, deliveryTimeoutMs),
    resolve: settings.resolve ?? createResolver(),
    // One for all connections, since it reads every trusted certificate. Any of these ends a chain, as with curl.
    secureContext: createSecureContext({
      allowPartialTrustChain: true,
      ...(extraCa === null ? {} : { ca: [...getCACertificates("default"), extraCa] }),
    }),
  });

  const targets = new LRUCache<string, Target>({ max: targetsKept });
  const target = (text: string): Target | null => {
    const known = targets.get(text);
    if (known) return known;
    const url = URL.parse(text);
    if (url?.protocol !== "https:") return null;
    const { origin, hostname, pathname, search } = url;
    const parsed = { origin, hostname, path: pathname + search };
    targets.set(text, parsed);
    return parsed;
  };

  return {
    post({ url, headers, body, keepBytes, timeoutMs, deadlineMs = deliveryTimeoutMs }) {
      const called = target(url);
      if (!called) return Promise.resolve(malformed);
      return new Promise((resolve) => {
        const exchange = new Exchange(keepBytes, Math.min(timeoutMs, deadlineMs), deadlineMs, resolve);
        const { origin, path } = called;
        agent.dispatch({ origin, path, method: "POST", headers, body }, exchange);
      });
    },

    refusalOf(url) {
      const called = target(url);
      if (!called) return "is not an https URL";
      const literal = /^\[(.+)\]$|^([\d.]+)$/.exec(called.hostname);
      const address = literal?.[1] ?? literal?.[2];
      if (address === undefined || allows(address)) return null;
      return "its host is an address that may not be called: it is not public";
    },

    async close() {
      await agent.close();
    },
  };
}

const malformed: OutboundFailure = {
  answered: false, reason: "connection", error: "the address is not an https URL", connected: false,
};
