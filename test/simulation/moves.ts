/** The moves of the specification's table, of decisions.md, of resends, and of late successes. */
export const moves = new Set([
  "Pending>Processing", "WaitingRetry>Processing", "Processing>Succeeded", "Processing>Failed",
  "Failed>WaitingRetry", "Failed>CriticalFailure", "Failed>Cancelled", "Pending>Cancelled", "WaitingRetry>Cancelled",
  "CriticalFailure>Pending", "Succeeded>Pending", "Pending>Succeeded", "WaitingRetry>Succeeded",
  "CriticalFailure>Succeeded",
]);
