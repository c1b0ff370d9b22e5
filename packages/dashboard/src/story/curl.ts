/** A request as the relay sent it; credentials in its headers are masked. */
interface SentRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Headers that curl writes by itself. */
const ownHeaders = ["host", "content-length", "connection", "transfer-encoding"];

/**
 * A command for POSIX shells that sends a request again. Undefined for a request with a NUL, at which arguments end.
 */
export function curlCommand({ url, headers, body }: SentRequest): string | undefined {
  const sent = Object.entries(headers).filter(([name]) => !ownHeaders.includes(name.toLowerCase()));
  // --data-raw, because --data reads a file if the text begins with `@`; --globoff, because brackets make several URLs.
  const lines = [
    `curl --globoff --request POST ${quoted(url)}`,
    ...sent.map(([name, value]) => `--header ${quoted(value === "" ? `${name};` : `${name}: ${value}`)}`),
    `--data-raw ${quoted(body)}`,
  ];
  const command = lines.join(" \\\n  ");
  return command.includes("\0") ? undefined : command;
}

/** A text as one word of a POSIX shell: nothing in it has a meaning to the shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
