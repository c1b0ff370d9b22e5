import { CompressionTypes, type Producer } from "kafkajs";
import pLimit from "p-limit";
import { type Clock, late, within } from "../../kernel/ports/clock.ts";
import type { Logger } from "../../kernel/ports/telemetry.ts";
import { QueueUnavailable, type WorkItem } from "../../kernel/ports/work-queue.ts";
import { retry, type Line } from "./client.ts";
import { encodeItem, wakeUpFor, createPartitioner } from "./messages.ts";

/** Below a broker's default of one megabyte: a send may be for one partition. */
const mostBytes = 900_000;
const fewestBytes = 1_000;
const overheadBytes = 100;
const sendWithinMs = 8_000;

interface Message {
  readonly key: string;
  readonly value: Buffer;
}

interface Connected {
  readonly line: Line;
  readonly producer: Promise<Producer>;
}

interface ProducerParts {
  readonly connect: () => Line;
  readonly topic: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly ready: () => Promise<unknown>;
}

/** Publishes at least once, one send at a time, with the driver's retries. A failed send replaces the connection. */
export class WorkProducer {
  readonly #parts: ProducerParts;
  readonly #inTurn = pLimit(1);
  #connected: Connected | undefined;
  #limit = mostBytes;
  #closed = false;

  constructor(parts: ProducerParts) {
    this.#parts = parts;
  }

  /** Resolves when the brokers have acknowledged all. Throws QueueUnavailable; some may be stored. */
  publish(items: readonly WorkItem[]): Promise<void> {
    return this.#inTurn(() => this.#publish(items));
  }

  close(): void {
    this.#closed = true;
    this.#disconnect();
  }

  async #publish(items: readonly WorkItem[]): Promise<void> {
    for (let sent = 0; sent < items.length;) {
      if (this.#closed) throw new QueueUnavailable("the work queue is closed");
      const messages = this.#messagesOf(items, sent);
      try {
        await inTime(this.#parts.clock, sendWithinMs, "a send to the work queue", this.#send(messages));
        sent += messages.length;
      } catch (error) {
        this.#disconnect();
        if (!isTooLarge(error) || this.#limit <= fewestBytes) {
          throw new QueueUnavailable("the work queue did not acknowledge", { cause: error });
        }
        this.#limit = Math.max(fewestBytes, Math.floor(this.#limit / 2));
        this.#parts.logger.warn({ bytes: this.#limit }, "the brokers refuse sends this large: sending less at once");
      }
    }
  }

  /** As many items from `from` on as fit into one send; at least one. */
  #messagesOf(items: readonly WorkItem[], from: number): Message[] {
    const messages: Message[] = [];
    let bytes = 0;
    for (let at = from; at < items.length; at += 1) {
      const message = this.#messageOf(items[at]!);
      bytes += sizeOf(message);
      if (bytes > this.#limit && at > from) break;
      messages.push(message);
    }
    return messages;
  }

  /** An item too large for any message becomes a wake-up: its event is in the due index. */
  #messageOf(item: WorkItem): Message {
    const message = { key: item.destinationId, value: encodeItem(item) };
    return sizeOf(message) <= this.#limit ? message : { ...message, value: encodeItem(wakeUpFor(item)) };
  }

  async #send(messages: Message[]): Promise<void> {
    const { producer } = (this.#connected ??= this.#connect());
    const { topic } = this.#parts;
    await (await producer).send({ topic, messages, acks: -1, timeout: 5_000, compression: CompressionTypes.None });
  }

  #connect(): Connected {
    const line = this.#parts.connect();
    const producer = line.kafka.producer({
      createPartitioner, allowAutoTopicCreation: false, metadataMaxAge: 60_000,
      // Long enough for a new topic to be known everywhere.
      retry: { ...retry, retries: 4 },
    });
    return { line, producer: this.#parts.ready().then(() => producer.connect()).then(() => producer) };
  }

  #disconnect(): void {
    this.#connected?.line.cut();
    this.#connected = undefined;
  }
}

function sizeOf({ key, value }: Message): number {
  return value.length + Buffer.byteLength(key) + overheadBytes;
}

function isTooLarge(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("type" in error && error.type === "MESSAGE_TOO_LARGE") || isTooLarge(error.cause);
}

async function inTime<T>(clock: Clock, patienceMs: number, what: string, task: Promise<T>): Promise<T> {
  const outcome = await within(clock, patienceMs, task);
  if (outcome === late) throw new Error(`${what} took longer than ${patienceMs} ms`);
  return outcome;
}
