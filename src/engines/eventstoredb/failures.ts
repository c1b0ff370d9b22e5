import { LogUnavailable } from "../../kernel/ports/event-store.ts";

export const grpcCode = {
  ok: 0, deadlineExceeded: 4, permissionDenied: 7, aborted: 10, unavailable: 14, unauthenticated: 16,
} as const;

const remedies: ReadonlyMap<number | undefined, string> = new Map([
  [
    grpcCode.permissionDenied,
    "the user in RELAY_EVENTSTOREDB_URL may not read $all: name the user under $acl, $r in the metadata of stream $all",
  ],
  [grpcCode.unauthenticated, "the user or the password in RELAY_EVENTSTOREDB_URL is wrong"],
]);

/** The server's name for a failure, such as `stream-deleted`. */
export function exceptionOf(error: unknown): string | undefined {
  const metadata = (error as { readonly metadata?: { get(name: string): readonly (string | Buffer)[] } }).metadata;
  return metadata?.get("exception")[0]?.toString();
}

/** Undefined for failures without a gRPC status. */
export function codeOf(error: unknown): number | undefined {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "number" ? code : undefined;
}

/** Whether the server ended a subscription whose client was too slow, which 23.10 does in normal operation. */
export function isTooSlow(error: unknown): boolean {
  return codeOf(error) === grpcCode.aborted;
}

/** Whether the server is too busy: the connection is still good. */
export function isBusy(error: unknown): boolean {
  return codeOf(error) === grpcCode.unavailable &&
    (error as { readonly details?: unknown }).details === "Server Is Too Busy";
}

/** The port's error for a failed call. */
export function unavailable(doing: string, cause: unknown): LogUnavailable {
  if (cause instanceof LogUnavailable) return cause;
  const remedy = remedies.get(codeOf(cause));
  if (remedy !== undefined) return new LogUnavailable(`EventStoreDB denies access (${doing}): ${remedy}`, { cause });
  const details = (cause as { readonly details?: unknown }).details;
  const reason = typeof details === "string" ? details : cause instanceof Error ? cause.message : String(cause);
  return new LogUnavailable(`EventStoreDB is away (${doing}): ${reason}`, { cause });
}
