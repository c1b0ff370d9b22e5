import { closeSync, fstatSync, openSync } from "node:fs";
import { MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { makeFolder } from "../../../../src/kernel/files.ts";
import { shrinkAtRest } from "../../../../src/kernel/threads/threads.ts";
import { CommitEngine, type WriteResult, type Write } from "./commit-engine.ts";
import { Housekeeping } from "./housekeeping.ts";
import { LogFile, logPath } from "./log-file.ts";
import type {
  RequestAnswer, Control, EmbeddedEventStoreStats, OtherRequest, ReadRequest, Reply, Request, Started, Anomaly, Tuning,
} from "./protocol.ts";
import { IndexFolder } from "./stream-index/index-folder.ts";
import { SegmentDamaged } from "./stream-index/segment-format.ts";

interface Client {
  readonly port: MessagePort;
  /** One number; 1: wake the client at the next commit of others. */
  readonly armed: Int32Array;
}

interface WaitingReads {
  readonly client: Client;
  readonly reads: readonly ReadRequest[];
  next: number;
}

/** Reads run this long before commits get their turn. */
const readingMs = 1;
/** How long readers may delay emptying the write-ahead log, at start and end. */
const closingPatienceMs = 1000;

/** Entry of the log thread, the only writer of the log. Serves clients over message ports. */
const owner = parentPort!;
const { dataDir, tuning } = workerData as { readonly dataDir: string; readonly tuning: Tuning };
const clients = new Set<Client>();
const writes: { readonly client: Client; readonly write: Write }[] = [];
const others: { readonly client: Client; readonly request: OtherRequest }[] = [];
const reads: WaitingReads[] = [];
let readingOn: NodeJS.Immediate | undefined;

shrinkAtRest();
makeFolder(dataDir);
const path = logPath(dataDir);
const log = new LogFile(path);
// The write-ahead log may hold entries deleted right before a crash.
const emptied = log.truncate(closingPatienceMs);
// Closed after the log: closing any descriptor of a file drops SQLite's locks on it.
const descriptor = openSync(path, "r");
const files = [
  { file: path, descriptor },
  ...["-wal", "-shm"].map((end) => ({ file: `${path}${end}`, descriptor: openSync(`${path}${end}`, "r") })),
];
const folder = new IndexFolder(dataDir);
const index = folder.open(log, tuning.memtableRecords);
const engine = new CommitEngine(log, index, dieOfDamage);
const onAnomaly = (trouble: string) => owner.postMessage({ trouble } satisfies Anomaly);
const housekeeping = new Housekeeping({
  path, descriptor, log, index, folder, engine, tuning, onAnomaly, onDamage: dieOfDamage,
});
if (!emptied) void housekeeping.scrub();
const head = new BigInt64Array(new SharedArrayBuffer(8));
head[0] = BigInt(engine.head);

owner.on("message", (control: Control) => {
  if (control.kind === "connect") connect(control.port);
  else void close();
});
owner.postMessage("started" satisfies Started);

function connect(port: MessagePort): void {
  const client: Client = { port, armed: new Int32Array(new SharedArrayBuffer(4)) };
  clients.add(client);
  port.on("close", () => clients.delete(client));
  port.on("message", (request: Request) => {
    enqueue(client, request);
    serve();
  });
  tell(client, { kind: "welcome", path, head: head.buffer, armed: client.armed.buffer as SharedArrayBuffer });
}

/** Serves all waiting requests: the writes in one commit, the reads for a limited time. */
function serve(): void {
  for (const client of clients) {
    for (let next = receiveMessageOnPort(client.port); next; next = receiveMessageOnPort(client.port)) {
      enqueue(client, next.message as Request);
    }
  }
  if (writes.length > 0) commit(writes.splice(0));
  for (const { client, request } of others.splice(0)) void answer(client, request);
  answerReads(performance.now() + readingMs);
}

function enqueue(client: Client, request: Request): void {
  if (request.kind === "append" || request.kind === "delete") writes.push({ client, write: request });
  else if (request.kind === "reads") reads.push({ client, reads: request.reads, next: 0 });
  else others.push({ client, request });
}

/** Answers reads until `end`, at least one; the others wait for the next turn. */
function answerReads(end: number): void {
  for (let waiting = reads[0]; waiting; waiting = reads[0]) {
    tell(waiting.client, { kind: "read", answers: log.reading(() => answersTo(waiting, end)) });
    if (waiting.next === waiting.reads.length) reads.shift();
    if (performance.now() >= end) break;
  }
  if (reads.length > 0) readingOn ??= setImmediate(() => {
    readingOn = undefined;
    serve();
  });
}

function answersTo(waiting: WaitingReads, end: number): RequestAnswer[] {
  const answers: RequestAnswer[] = [];
  do answers.push(read(waiting.reads[waiting.next++]!));
  while (waiting.next < waiting.reads.length && performance.now() < end);
  return answers;
}

function commit(waiting: readonly { readonly client: Client; readonly write: Write }[]): void {
  const before = engine.head;
  const outcomes = engine.commit(waiting.map(({ write }) => write));
  // Before any answer: a removed file is lost when this process ends.
  requireFiles();
  Atomics.store(head, 0, BigInt(engine.head));
  const own = new Map<Client, number>();
  for (const [at, { client, write }] of waiting.entries()) {
    const outcome = outcomes[at]!;
    tell(client, replyTo(write, outcome));
    // A deletion's answer does not tell its client how far the log goes.
    if (write.kind === "append" && "first" in outcome) {
      own.set(client, (own.get(client) ?? 0) + outcome.last - outcome.first + 1);
    }
  }
  for (const client of clients) {
    const foreign = engine.head - before - (own.get(client) ?? 0);
    if (foreign > 0 && Atomics.exchange(client.armed, 0, 0) === 1) tell(client, { kind: "wake" });
  }
  housekeeping.afterCommit();
}

function replyTo(write: Write, outcome: WriteResult): Reply {
  if (write.kind === "append") {
    if ("failed" in outcome) return { kind: "failed", batch: write.batch, reason: outcome.failed };
    return { kind: "appended", batch: write.batch, first: outcome.first, exceptions: outcome.exceptions };
  }
  if ("failed" in outcome) return { kind: "refused", request: write.request, reason: outcome.failed };
  const [exception] = outcome.exceptions;
  const conflict = exception && "conflict" in exception ? exception.conflict : null;
  return { kind: "answer", request: write.request, result: conflict };
}

function read(request: ReadRequest): RequestAnswer {
  try {
    return { kind: "answer", request: request.request, result: engine.read(request) };
  } catch (error) {
    return refused(request.request, error);
  }
}

async function answer(client: Client, { kind, request }: OtherRequest): Promise<void> {
  const asked = { stats, scrub: () => housekeeping.scrub(), ping };
  try {
    tell(client, { kind: "answer", request, result: await asked[kind]() });
  } catch (error) {
    tell(client, refused(request, error));
  }
}

function ping(): void {
  requireFiles();
  engine.ping();
}

/** A removed file can be written as long as it is open. */
function requireFiles(): void {
  for (const { file, descriptor: opened } of files) {
    if (fstatSync(opened).nlink === 0) throw new Error(`${file} was removed while it was in use`);
  }
}

function refused(request: number, error: unknown): RequestAnswer {
  return { kind: "refused", request, reason: (error as Error).message };
}

function stats(): EmbeddedEventStoreStats {
  const { commits, entries } = engine.counts;
  const segments = index.segments.map(({ records }) => records);
  return { commits, entries, ...housekeeping.counts, memtable: index.activeRecords, segments };
}

async function close(): Promise<void> {
  do serve();
  while (reads.length > 0);
  clearImmediate(readingOn);
  await housekeeping.close();
  for (const { port } of clients) port.close();
  try {
    log.truncate(closingPatienceMs);
  } catch {
    // The disk may be full. Nothing is lost: the next start empties the write-ahead log.
  }
  log.close();
  for (const { descriptor: opened } of files) closeSync(opened);
  owner.close();
}

function tell(client: Client, reply: Reply): void {
  client.port.postMessage(reply);
}

/** Ends the process; the next start rebuilds the index. In another turn, outside a transaction that may roll back. */
function dieOfDamage(damage: SegmentDamaged): void {
  setImmediate(() => {
    log.forgetSegments();
    throw damage;
  });
}
