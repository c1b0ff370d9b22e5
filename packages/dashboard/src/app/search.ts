/** Parameters of an address by their names: filters, tabs, open panels, moments. Each has one text. */
export type Texts<Name extends string> = { readonly [Given in Name]?: string | undefined };

/** Some parameters of an address. */
export type Search = Texts<string>;

/** Validates the parameters of a page, which has those of these names. */
export function texts<const Name extends string>(
  ...names: readonly Name[]
): (search: Readonly<Record<string, unknown>>) => Texts<Name> {
  return (search) => {
    const known: { -readonly [Given in Name]?: string } = {};
    for (const name of names) {
      const text = search[name];
      if (typeof text === "string") known[name] = text;
    }
    return known;
  };
}

/** Reads the part of an address behind the question mark. Of a repeated parameter the last one counts. */
export function parseSearch(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text));
}

/** Writes parameters behind a question mark, without those that are undefined or empty. */
export function writeSearch(search: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return text === "" ? "" : `?${text}`;
}

/** The filters of the list of events, by the names of the API. */
export const eventFilterNames = [
  "Status", "DestinationUrlId", "SenderId", "EventType", "OwnerId", "MessageId", "Tag", "CorrelationId", "From", "To",
  "FinishedFrom", "FinishedTo", "ReplayId", "Test", "IdempotencyKey",
] as const;

/** The parameters of the payload search. */
export const payloadNames = ["Text", "Pointer", "Value"] as const;

/** The columns of the list of events, one on each line: no JSON Pointer that is typed has a line break. */
export const columnsName = "columns";

/** The parameters of an event's story: a position of the log, an attempt, and another one to compare it with. */
export const storyNames = ["at", "attempt", "with"] as const;

/** The filters of the audit, by the names of the API. */
export const auditFilterNames = ["ActorId", "SubjectId", "CorrelationId", "Type", "From", "To"] as const;

/** The fields of an order to replay, cancel or purge, by the names of the API. */
export const orderFields = [
  "destinationUrlId", "senderId", "eventType", "tags", "status", "from", "to", "toDestinationUrlId", "perSecond",
  "before", "ownerId", "messageId", "correlationId", "finishedFrom", "finishedTo",
] as const;

/** A field of an order. */
export type OrderField = typeof orderFields[number];
