import type { ApiDocument } from "../../src/http/openapi/document.ts";

/** The content of an answer. */
export interface Content {
  readonly status: number;
  /** JSON, or else a text. */
  readonly body: unknown;
}

/** A GET request to the API and its answer. */
export interface RecordedAnswer extends Content {
  /** The holder of the token that was sent; see {@link Callers}. */
  readonly caller: string;
  /** With the query. */
  readonly path: string;
}

/** A post of an event that a producer may send again. */
export interface Post {
  readonly path: string;
  readonly apiKey: string;
  readonly idempotencyKey: string;
  readonly body: object;
}

/** Access tokens by the names of their holders in the record. */
export type Callers = Readonly<Record<string, string>>;

interface Page {
  readonly items: readonly Item[];
}

interface Subject {
  readonly type: string;
  readonly id: string;
}

type Item = Readonly<Record<string, unknown>> & { readonly id: string };

const wholeList = "Qt=100";
/** The audit's subject types, by the list of such things. */
const subjectTypes: Readonly<Record<string, string>> = {
  destinations: "destination", senders: "sender", "api-keys": "apiKey", invites: "invite", users: "user",
};

/** Sends a GET as a caller. */
export async function ask(url: string, callers: Callers, caller: string, path: string): Promise<RecordedAnswer> {
  const answer = await fetch(url + path, { headers: { authorization: `Bearer ${callers[caller] ?? ""}` } });
  return { caller, path, ...(await contentOf(answer)) };
}

/** Sends a post. */
export async function send(url: string, { path, apiKey, idempotencyKey, body }: Post): Promise<Content> {
  const headers = { "content-type": "application/json", "x-api-key": apiKey, "x-idempotency-key": idempotencyKey };
  return contentOf(await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) }));
}

async function contentOf(answer: Response): Promise<Content> {
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
  return { status: answer.status, body: isJson ? (JSON.parse(text) as unknown) : text };
}

/**
 * Sends every GET under /api/v1 about a tenant, as a caller: each operation of the release's own description, for each
 * thing there is or was, lists whole, by pages and by filters. `eventIds` are events that no list may have any more.
 */
export async function everyAnswer(
  url: string, callers: Callers, caller: string, { tenantId, eventIds }: {
    readonly tenantId: string; readonly eventIds: readonly string[];
  },
): Promise<RecordedAnswer[]> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as ApiDocument;
  const operations = Object.entries(document.paths)
    .filter(([path, { get }]) => path.startsWith("/api/v1/") && get !== undefined)
    .map(([path, { get }]) => ({ path, isList: get!.parameters.some(({ name }) => name === "Qt") }));
  const items = async (list: string) =>
    ((await ask(url, callers, caller, `/api/v1/${list}?${wholeList}`)).body as Page).items;
  const subjects = (await items("audit")).map(({ subject }) => subject as Subject);
  const events = await items("events");
  const ids = async (list: string) => {
    if (list === "tenants") return [tenantId];
    if (list === "events") return [...new Set([...events.map(({ id }) => id), ...eventIds])];
    const listed = (await items(list)).map(({ id }) => id);
    const known = subjects.filter(({ type }) => type === subjectTypes[list]).map(({ id }) => id);
    return [...new Set([...listed, ...known])];
  };

  const paths = filters(events).map((filter) => `/api/v1/${filter}`);
  for (const { path, isList } of operations) {
    const list = path.split("/")[3]!;
    const things = path.includes("{id}") ? await ids(list) : [""];
    const queries = isList ? [`?${wholeList}`, ...(path.includes("{") ? [] : ["?Qt=2&Pg=2&TpOrd=Asc"])] : [""];
    paths.push(...things.flatMap((id) => queries.map((query) => path.replace("{id}", id) + query)));
  }
  const answers: RecordedAnswer[] = [];
  for (const path of paths) answers.push(await ask(url, callers, caller, path));
  return answers;
}

/** Queries with filters, by the values that occur in events. */
function filters(events: readonly Item[]): readonly string[] {
  const each = (field: string) => [...new Set(events.map((event) => event[field]))].filter((value) => value !== null)
    .map((value) => encodeURIComponent(value as string));
  return [
    ...each("status").map((status) => `events?Status=${status}`),
    ...each("idempotencyKey").map((key) => `events?IdempotencyKey=${key}`),
    ...each("destinationUrlId").flatMap((id) => [
      `events?DestinationUrlId=${id}&Qt=1`, `events/totals?DestinationUrlId=${id}`,
    ]),
    ...["Active", "Inactive", "Suspended"].map((status) => `destinations?Status=${status}`),
    "users?Status=0&Role=10",
    "audit?Type=DestinationRegistered&CpOrd=time",
  ];
}
