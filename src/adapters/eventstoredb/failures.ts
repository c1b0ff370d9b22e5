import { LogUnavailable } from "../../ports/event-store.ts";

/** gRPC status codes that are acted upon. */
export const grpcCode = { ok: 0, deadlineExceeded: 4, unavailable: 14 } as const;

/** What a call or a reply failed with, as the server names it in its trailers (`stream-deleted` and so on). */
export function exceptionOf(error: unknown): string | undefined {
  const metadata = (error as { readonly metadata?: { get(name: string): readonly (string | Buffer)[] } }).metadata;
  return metadata?.get("exception")[0]?.toString();
}

/** The gRPC status of a failed call; undefined when it failed before there was one. */
export function codeOf(error: unknown): number | undefined {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "number" ? code : undefined;
}

/** The port's error for a call that failed through no fault of the caller's. */
export function unavailable(doing: string, cause: unknown): LogUnavailable {
  if (cause instanceof LogUnavailable) return cause;
  const details = (cause as { readonly details?: unknown }).details;
  const reason = typeof details === "string" ? details : cause instanceof Error ? cause.message : String(cause);
  return new LogUnavailable(`EventStoreDB is away (${doing}): ${reason}`, { cause });
}
