/** The words for the statuses of events; each page and text takes them from here. */
const words: Readonly<Record<string, string>> = {
  Pending: "Queued", Processing: "Sending", WaitingRetry: "Retrying", Succeeded: "Delivered",
  CriticalFailure: "Failed", Failed: "Attempt failed", Cancelled: "Cancelled",
};

/** The word for a status of an event, as the API names it. */
export function statusWord(status: string): string {
  return words[status] ?? status;
}

/** The words for statuses of events, joined by "or". */
export function statusesText(statuses: readonly string[]): string {
  return statuses.map(statusWord).join(" or ");
}
