import type { Route } from "../route.ts";

/** What operators and their tools ask about this process. */
export interface Health {
  /** Null when requests can be served, else why not. */
  readonly ready: () => Promise<string | null>;
  /** All metrics, in Prometheus' text format. */
  readonly metrics: () => Promise<string>;
}

/** Liveness, readiness and metrics. */
export function healthRoutes({ ready, metrics }: Health): Route[] {
  return [
    { method: "GET", path: "/healthz", run: async () => ({ status: 200, text: "ok" }) },
    {
      method: "GET",
      path: "/readyz",
      run: async () => {
        const reason = await ready();
        return reason === null ? { status: 200, text: "ready" } : { status: 503, text: reason };
      },
    },
    {
      method: "GET",
      path: "/metrics",
      run: async () => ({ status: 200, text: await metrics(), type: "text/plain; version=0.0.4; charset=utf-8" }),
    },
  ];
}
