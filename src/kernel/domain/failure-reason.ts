/**
 * Why an attempt failed. `not sent`: its claim took so long that another worker might have given it up as lost, or its
 * process was ending; `outcome unknown`: its worker was lost, the receiver may have seen it.
 */
export const failureReasons = [
  "status",
  "timeout",
  "connection",
  "tls",
  "address refused",
  "token",
  "not sent",
  "outcome unknown",
] as const;

/** One of {@link failureReasons}, as facts, the API and the metrics spell it. */
export type FailureReason = (typeof failureReasons)[number];
