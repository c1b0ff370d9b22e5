import { chmodSync, lstatSync, rmSync } from "node:fs";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { json, text } from "node:stream/consumers";
import { errorAnswer } from "../../http/answers/errors.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { parseJsonObject } from "../../kernel/operations/json-text.ts";
import type { Logger } from "../../kernel/ports/telemetry.ts";
import { inputs, type Operations } from "./operations.ts";

type Name = keyof Operations;
type Any = (input: unknown) => Promise<unknown>;

/** The longest path of a socket on Linux and macOS, bytes. */
const longestPath = 103;
/** The longest input: names, emails and passwords are short. */
const longestBytes = 16_384;
/** Errors of a socket that does not exist or that a killed process left. */
const nobody: ReadonlySet<string | undefined> = new Set(["ENOENT", "ECONNREFUSED"]);

function socketPath(dataDir: string): string {
  return join(dataDir, "operator.sock");
}

function isTooLong(path: string): boolean {
  return Buffer.byteLength(path) > longestPath;
}

/**
 * Serves the operator's operations (`POST /NAME`, JSON) on a socket that only the relay's user can open; returns its
 * end. Without a socket the log has a warning.
 */
export async function serveOperator(dataDir: string, operations: Operations, logger: Logger): Promise<() => void> {
  const path = socketPath(dataDir);
  const without = (fields: object, why: string) => {
    logger.warn({ path, ...fields }, `${why}: commands need a stopped relay`);
    return () => undefined;
  };
  if (isTooLong(path)) return without({ longest: longestPath }, "the path is too long for a socket");
  const server = createServer((incoming, response) => void answer(operations, logger, incoming, response));
  try {
    const isTaken = lstatSync(path, { throwIfNoEntry: false })?.isSocket() === false;
    if (isTaken) return without({}, "something that is no socket has the socket's name");
    rmSync(path, { force: true });
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
    chmodSync(path, 0o600);
  } catch (error) {
    server.close();
    return without({ err: error }, "there is no socket for commands");
  }
  return () => {
    server.close();
    server.closeAllConnections();
    rmSync(path, { force: true });
  };
}

async function answer(
  operations: Operations, logger: Logger, incoming: IncomingMessage, response: ServerResponse,
): Promise<void> {
  const name = (incoming.url ?? "").slice(1);
  try {
    if (!Object.hasOwn(operations, name)) refuse("not-found", `the relay does not know ${JSON.stringify(name)}`);
    if (incoming.method !== "POST") return void response.writeHead(405, { Allow: "POST" }).end();
    const input = inputs[name as Name](parseJsonObject(await bytesOf(incoming)));
    const result = await (operations[name as Name] as Any)(input);
    logger.info({ command: name }, "the operator's command is done");
    response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(result ?? null));
  } catch (error) {
    const { status, unforeseen } = errorAnswer(error);
    if (unforeseen) logger.error({ err: error, command: name }, "the operator's command failed");
    const isUnread = !incoming.complete;
    response.writeHead(status, isUnread ? { Connection: "close" } : {});
    response.end(error instanceof Error ? error.message : String(error), () => isUnread && incoming.destroy());
  }
}

async function bytesOf(incoming: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = Number(incoming.headers["content-length"] ?? 0);
  const check = () => length > longestBytes && refuse("too-large", `body: must be at most ${longestBytes} bytes`);
  check();
  length = 0;
  for await (const piece of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += piece.length;
    check();
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Calls an operation of the relay on the data folder; undefined without a relay. Rejects with the error's text. */
export async function atRelay<Called extends Name>(
  dataDir: string, name: Called, ...input: Parameters<Operations[Called]>
): Promise<{ readonly result: Awaited<ReturnType<Operations[Called]>> } | undefined> {
  const path = socketPath(dataDir);
  if (isTooLong(path)) return undefined;
  const answered = await new Promise<IncomingMessage | undefined>((resolve, reject) => {
    const asking = request({ socketPath: path, path: `/${name}`, method: "POST" }, resolve);
    asking.once("error", (error: NodeJS.ErrnoException) =>
      nobody.has(error.code) ? resolve(undefined) : reject(error));
    asking.end(JSON.stringify(input[0] ?? {}));
  });
  if (!answered) return undefined;
  if (answered.statusCode !== 200) throw new Error(await text(answered));
  return { result: (await json(answered)) as Awaited<ReturnType<Operations[Called]>> };
}
