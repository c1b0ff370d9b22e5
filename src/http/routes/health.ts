import { open, type Answer, type Route } from "../route.ts";

/** The state of this process, for operators and their tools. */
export interface Health {
  /** Null when this process can do its work, else why not. */
  readonly ready: () => string | null;
  /** All metrics, in Prometheus' text format. */
  readonly metrics: () => Promise<string>;
}

/** Liveness, readiness and metrics, by path. */
export function healthProbes({ ready, metrics }: Health): ReadonlyMap<string, () => Promise<Answer>> {
  return new Map([
    ["/healthz", async () => ({ status: 200, text: "ok" })],
    ["/readyz", async () => {
      const reason = ready();
      return reason === null ? { status: 200, text: "ready" } : { status: 503, text: reason };
    }],
    ["/metrics", async () => {
      return { status: 200, text: await metrics(), type: "text/plain; version=0.0.4; charset=utf-8" };
    }],
  ]);
}

/** The probes as operations of the API. */
export function healthRoutes(health: Health): Route[] {
  return [...healthProbes(health)].map(([path, run]) => open("GET", path, run));
}
