import { Client } from "undici";
import type { ApiClient } from "../../test/support/api-client.ts";

/** The answer to one question. */
export interface TimedAnswer {
  readonly status: number;
  /** From the question to the last byte of the answer, ms. */
  readonly ms: number;
  readonly body: Buffer;
}

/** Asks one question after the other over one kept-alive connection: little of the time is this process's own. */
export class Asker {
  readonly #client: Client;

  constructor(url: string) {
    this.#client = new Client(url);
  }

  async get(path: string, { headers }: ApiClient): Promise<TimedAnswer> {
    const from = performance.now();
    const answer = await this.#client.request({ method: "GET", path, headers });
    const body = Buffer.from(await answer.body.arrayBuffer());
    return { status: answer.statusCode, ms: performance.now() - from, body };
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
