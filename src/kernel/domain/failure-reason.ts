/** Why an attempt failed. `not sent`: its claim took too long; `outcome unknown`: its worker was lost. */
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
