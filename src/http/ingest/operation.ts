import type { Operation } from "../route.ts";

/** The beginning of all ingest paths. */
export const ingestPrefix = "/api/v1/ingest/";

/** The description of ingest, which has no route. */
export const ingestOperation: Operation = {
  method: "POST",
  path: `${ingestPrefix}:tenantId/:token`,
  security: "apiKey",
  body: {
    schema: {
      type: "object",
      additionalProperties: true,
      description: "Any JSON object in UTF-8, nested at most 128 deep.",
    },
  },
};

/** The variable parts of an ingest path, decoded. */
export interface IngestPath {
  readonly tenant: string;
  readonly token: string;
}

/** The parts of an ingest path, or undefined for any other URL, one with a dot segment included. */
export function ingestPath(url: string): IngestPath | undefined {
  if (!url.startsWith(ingestPrefix)) return undefined;
  const query = url.indexOf("?");
  const [tenant, token, ...more] = url.slice(ingestPrefix.length, query < 0 ? undefined : query).split("/");
  if (!tenant || !token || more.length > 0) return undefined;
  const path = { tenant: decode(tenant), token: decode(token) };
  return isDots(path.tenant) || isDots(path.token) ? undefined : path;
}

function isDots(segment: string): boolean {
  return segment === "." || segment === "..";
}

function decode(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
