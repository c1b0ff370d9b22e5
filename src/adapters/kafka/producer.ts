import { CompressionTypes, type Producer } from "kafkajs";
import type { Clock } from "../../ports/clock/clock.ts";
import { within } from "../../ports/clock/within.ts";
import type { Logger } from "../../ports/telemetry.ts";
import { QueueUnavailable, type WorkItem } from "../../ports/work-queue.ts";
import { retry, type Line } from "./client.ts";
import { encodeItem, wakeUpFor } from "./messages.ts";
import { createPartitioner } from "./partitions.ts";
import { inTime } from "./waiting.ts";

/** Below the megabyte that a broker takes by default, as all of a send may be for one partition. */
const mostBytes = 900_000;
const fewestBytes = 1_000;
/** The most that a record adds to its key and value. */
const overheadBytes = 100;
const sendWithinMs = 8_000;

interface Publication {
  left: number;
  resolve(): void;
  reject(error: Error): void;
}

interface Outgoing {
  readonly item: WorkItem;
  readonly value: Buffer;
  readonly publication: Publication;
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
  /** Resolves when the topic exists. */
  readonly ready: () => Promise<unknown>;
}

/**
 * Publishes with one send in flight, which takes along all that waited meanwhile. The driver's idempotent producer
 * loses acknowledged messages when sends overlap, and may when a send follows one that failed, since it uses a sequence
 * number again: after a failure the producer is replaced.
 */
export class WorkProducer {
  readonly #parts: ProducerParts;
  #connected: Connected | undefined;
  #waiting: Outgoing[] = [];
  #sending: Promise<void> | undefined;
  #limit = mostBytes;
  #closed = false;

  constructor(parts: ProducerParts) {
    this.#parts = parts;
  }

  /** Resolves when the brokers have acknowledged all. Throws QueueUnavailable: some may be stored all the same. */
  publish(items: readonly WorkItem[]): Promise<void> {
    if (this.#closed) return Promise.reject(new QueueUnavailable("the work queue is closed"));
    if (items.length === 0) return Promise.resolve();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const publication: Publication = { left: items.length, resolve, reject };
    for (const item of items) this.#waiting.push({ item, value: encodeItem(item), publication });
    this.#sending ??= this.#sendAll();
    return promise;
  }

  /** Rejects what waits. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#rejectAll(this.#waiting.splice(0), new QueueUnavailable("the work queue is closed"));
    await within(this.#parts.clock, sendWithinMs, this.#sending ?? Promise.resolve());
    this.#discard();
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch();
      try {
        await inTime(this.#parts.clock, sendWithinMs, "a send to the work queue", this.#send(batch));
        for (const { publication } of batch) if (--publication.left === 0) publication.resolve();
      } catch (error) {
        this.#discard();
        if (isTooLarge(error) && this.#limit > fewestBytes) {
          this.#limit = Math.max(fewestBytes, Math.floor(this.#limit / 2));
          this.#parts.logger.warn({ bytes: this.#limit }, "the brokers refuse sends this large: sending less at once");
          this.#waiting.unshift(...batch);
          continue;
        }
        // What waits behind it would overtake it: its publisher tries it all again, in order.
        const reason = new QueueUnavailable("the work queue did not acknowledge", { cause: error });
        this.#rejectAll([...batch, ...this.#waiting.splice(0)], reason);
      }
    }
    this.#sending = undefined;
  }

  #nextBatch(): Outgoing[] {
    let bytes = 0;
    const end = this.#waiting.findIndex((outgoing, index) => {
      const sized = this.#limited(outgoing);
      this.#waiting[index] = sized;
      bytes += sizeOf(sized);
      return index > 0 && bytes > this.#limit;
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  /** An item too large for any message is replaced by a wake-up: its event waits in the due index. */
  #limited(outgoing: Outgoing): Outgoing {
    if (sizeOf(outgoing) <= this.#limit) return outgoing;
    const item = wakeUpFor(outgoing.item);
    return { ...outgoing, item, value: encodeItem(item) };
  }

  async #send(batch: readonly Outgoing[]): Promise<void> {
    const connected = (this.#connected ??= this.#open());
    const producer = await connected.producer;
    // Given up while it connected: another send may be in flight.
    if (this.#connected !== connected) throw new Error("the producer was replaced");
    const { topic } = this.#parts;
    const messages = batch.map(({ item, value }) => ({ key: item.destinationId, value }));
    await producer.send({ topic, messages, acks: -1, timeout: 5_000, compression: CompressionTypes.None });
  }

  #open(): Connected {
    const line = this.#parts.connect();
    const producer = line.kafka.producer({
      createPartitioner, idempotent: true, maxInFlightRequests: 1, allowAutoTopicCreation: false,
      metadataMaxAge: 60_000,
      // Long enough for a topic that was just made to be known everywhere.
      retry: { ...retry, retries: 4 },
    });
    const ready = this.#parts.ready().then(() => producer.connect());
    return { line, producer: ready.then(() => producer) };
  }

  #discard(): void {
    this.#connected?.line.cut();
    this.#connected = undefined;
  }

  #rejectAll(batch: readonly Outgoing[], error: Error): void {
    for (const { publication } of batch) publication.reject(error);
  }
}

function sizeOf({ item, value }: Outgoing): number {
  return value.length + Buffer.byteLength(item.destinationId) + overheadBytes;
}

function isTooLarge(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("type" in error && error.type === "MESSAGE_TOO_LARGE") || isTooLarge(error.cause);
}
