import { request } from "undici";
import type { ApiClient, Json } from "../../test/support/api-client.ts";

/** An answer in lines of JSON, as it was read. */
export interface LinesRead {
  readonly lines: number;
  /** The last line: it says that the answer is complete. */
  readonly end: Json;
  readonly ms: number;
}

const newline = 10;
/** Longer than a last line. */
const tailBytes = 4_096;

/** Reads an answer in lines and keeps the last one. Throws where that is not the end, or the status is not 200. */
export async function readLines(path: string, { url, headers }: ApiClient, signal?: AbortSignal): Promise<LinesRead> {
  const from = performance.now();
  const { statusCode, body } = await request(url + path, { headers, ...(signal && { signal }) });
  if (statusCode !== 200) throw new Error(`GET ${path} was answered ${statusCode}: ${await body.text()}`);
  let lines = 0;
  let tail = Buffer.alloc(0);
  for await (const chunk of body as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) lines += 1;
    tail = Buffer.concat([tail, chunk.subarray(-tailBytes)]).subarray(-tailBytes);
  }
  const ms = performance.now() - from;
  const end = JSON.parse(tail.toString().trimEnd().split("\n").at(-1) ?? "") as Json;
  if (end["end"] !== true) throw new Error(`the answer of ${path} is incomplete`);
  return { lines, end, ms };
}
