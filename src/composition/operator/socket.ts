import { chmodSync, rmSync } from "node:fs";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { json, text } from "node:stream/consumers";
import { Refusal } from "../../domain/refusal.ts";
import type { Logger } from "../../ports/telemetry.ts";
import type { Operations } from "./operations.ts";

type Name = keyof Operations;
type Any = (input: unknown) => Promise<unknown>;

/** The longest path of a socket on Linux and macOS, bytes. */
const longestPath = 103;
/** There is nobody at a socket without a file, or at one that a killed process left. */
const nobody: ReadonlySet<string | undefined> = new Set(["ENOENT", "ECONNREFUSED"]);

function socketPath(dataDir: string): string {
  return join(dataDir, "operator.sock");
}

/**
 * Serves the operator's operations on a socket in the data folder, which this process must hold: `POST /NAME` with the
 * input as JSON. Only the user of the relay can open the socket. Resolves to the end of it; a request under way then
 * loses its answer.
 */
export async function serveOperator(dataDir: string, operations: Operations, logger: Logger): Promise<() => void> {
  const path = socketPath(dataDir);
  if (Buffer.byteLength(path) > longestPath) {
    logger.warn({ path, longest: longestPath }, "the path is too long for a socket: commands need a stopped relay");
    return () => undefined;
  }
  const server = createServer((incoming, response) => void answer(operations, logger, incoming, response));
  rmSync(path, { force: true });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
  chmodSync(path, 0o600);
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
    if (incoming.method !== "POST" || !Object.hasOwn(operations, name)) return void response.writeHead(404).end();
    const result = await (operations[name as Name] as Any)(await json(incoming));
    logger.info({ command: name }, "the operator's command is done");
    response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(result ?? null));
  } catch (error) {
    if (!(error instanceof Refusal)) logger.error({ err: error, command: name }, "the operator's command failed");
    response.writeHead(500).end(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Has the relay that holds the data folder carry an operation out; undefined where none does. Rejects with the text of
 * the operation's error.
 */
export async function atRelay<Called extends Name>(
  dataDir: string, name: Called, ...input: Parameters<Operations[Called]>
): Promise<{ readonly result: Awaited<ReturnType<Operations[Called]>> } | undefined> {
  const answered = await new Promise<IncomingMessage | undefined>((resolve, reject) => {
    const asking = request({ socketPath: socketPath(dataDir), path: `/${name}`, method: "POST" }, resolve);
    asking.once("error", (error: NodeJS.ErrnoException) =>
      nobody.has(error.code) ? resolve(undefined) : reject(error));
    asking.end(JSON.stringify(input[0] ?? null));
  });
  if (!answered) return undefined;
  if (answered.statusCode !== 200) throw new Error((await text(answered)) || `the relay does not know ${name}`);
  return { result: (await json(answered)) as Awaited<ReturnType<Operations[Called]>> };
}
