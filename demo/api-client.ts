/** A JSON object as it comes. */
export type Json = Record<string, unknown>;

/** A field that is a text or a number; empty where there is none. */
export function text(json: Json, field: string): string {
  const value = json[field];
  return typeof value === "string" || typeof value === "number" ? value.toString() : "";
}

/** The relay's API, spoken with plain fetch. Throws on any answer that is not a success. */
export class ApiClient {
  readonly url: string;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.url = url;
    this.headers = headers;
  }

  /** The same API with more headers on every request. */
  as(headers: Readonly<Record<string, string>>): ApiClient {
    return new ApiClient(this.url, { ...this.headers, ...headers });
  }

  get(path: string): Promise<Json> {
    return this.#send("GET", path, {});
  }

  post(path: string, body: Json, headers: Readonly<Record<string, string>> = {}): Promise<Json> {
    return this.#send("POST", path, { "content-type": "application/json", ...headers }, JSON.stringify(body));
  }

  patch(path: string, body: Json): Promise<Json> {
    return this.#send("PATCH", path, { "content-type": "application/json" }, JSON.stringify(body));
  }

  async delete(path: string): Promise<void> {
    await this.#send("DELETE", path, {});
  }

  async #send(method: string, path: string, headers: Readonly<Record<string, string>>, body?: string): Promise<Json> {
    const init = { method, headers: { ...this.headers, ...headers }, ...(body === undefined ? {} : { body }) };
    const answer = await fetch(this.url + path, init);
    const received = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${received}`);
    return received === "" ? {} : (JSON.parse(received) as Json);
  }
}
