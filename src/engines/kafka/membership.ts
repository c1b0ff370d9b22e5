import type { Consumer, EachBatchPayload, KafkaMessage } from "kafkajs";
import { type Timer, type Clock, within } from "../../kernel/ports/clock.ts";
import type { Instruments } from "../../kernel/ports/telemetry.ts";
import type { WorkConsumer, WorkItem, QueueSession } from "../../kernel/ports/work-queue.ts";
import { keepingAssigner } from "./assigner.ts";
import { retry, type Line } from "./client.ts";
import { decodeItem, partitionOf } from "./messages.ts";

const sessionTimeoutMs = 6_000;
/** Also how long a dead member delays the others when a member joins. */
const rebalanceTimeoutMs = 5_000;
const heartbeatEveryMs = 500;
const longestFetchMs = 200;
const commitEveryMs = 500;
const checkEveryMs = 1_000;
const patienceMs = 12_000;
const leaveWithinMs = 5_000;
const metadataMaxAgeMs = 60_000;

/** The parts that all memberships of a process share. */
export interface MembershipParts extends Instruments {
  /** Makes the member's own connections, which are cut at its end. */
  readonly connect: () => Line;
  readonly topic: string;
  readonly groupId: string;
}

/** One member of the group. It does not wait for items' ends: a slow batch would delay all of a broker's partitions. */
export class Membership {
  readonly #parts: MembershipParts;
  readonly #taker: WorkConsumer;
  readonly #line: Line;
  readonly #consumer: Consumer;
  readonly #over = Promise.withResolvers<Error>();
  #session: GroupSession;
  #memberId: string | undefined;
  #assigned: readonly number[] = [];
  #partitions = 0;
  #countPartitions: () => number = () => 0;
  readonly #uncommitted = new Map<number, string>();
  #committedAt: number;
  #heardAt: number;
  /** Duration of the last heartbeat or sync: the group heard from the member that long before the answer. */
  #requestMs = 0;
  #ended = false;
  #joined = false;
  #timer: Timer | undefined;

  constructor(parts: MembershipParts, taker: WorkConsumer) {
    this.#parts = parts;
    this.#taker = taker;
    this.#heardAt = this.#committedAt = parts.clock.monotonic();
    this.#session = this.#newSession(0);
    this.#line = parts.connect();
    this.#consumer = this.#line.kafka.consumer({
      groupId: parts.groupId,
      allowAutoTopicCreation: false,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: rebalanceTimeoutMs,
      heartbeatInterval: heartbeatEveryMs,
      maxWaitTimeInMs: longestFetchMs,
      metadataMaxAge: metadataMaxAgeMs,
      partitionAssigners: [keepingAssigner(parts.topic, {
        leaving: () => this.#leaving(),
        counting: (count) => { this.#countPartitions = count; },
      })],
      // A crashed consumer is replaced, not restarted: one recovery for every failure.
      retry: { ...retry, restartOnFailure: async () => false },
    });
    this.#listen();
  }

  get joined(): boolean {
    return this.#joined;
  }

  /** Joins; resolves with the reason at the membership's end. */
  async live(): Promise<Error> {
    this.#watch();
    void this.#start().catch((error: unknown) => this.#over.resolve(error as Error));
    const reason = await this.#over.promise;
    await this.leave();
    return reason;
  }

  async leave(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    this.#timer?.cancel();
    this.#session.end();
    this.#taker.reassign(() => true, this.#session);
    const left = this.#commit().then(() => this.#consumer.disconnect());
    await within(this.#parts.clock, leaveWithinMs, left.catch(() => undefined));
    this.#line.cut();
    this.#over.resolve(new Error("left"));
  }

  async #start(): Promise<void> {
    const consumer = this.#consumer;
    const steps = [
      () => consumer.connect(),
      // Older messages are in the due index, too; taking them here is quicker.
      () => consumer.subscribe({ topic: this.#parts.topic, fromBeginning: true }),
      () => consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        eachBatch: async (payload) => this.#take(payload),
      }),
    ];
    for (const step of steps) {
      if (!this.#ended) await step();
    }
  }

  #listen(): void {
    const consumer = this.#consumer;
    const { REQUEST, HEARTBEAT, REBALANCING, GROUP_JOIN, CRASH } = consumer.events;
    consumer.on(REQUEST, ({ payload: { apiName, duration } }) => {
      // The group heard from the member when the request arrived, maybe long before its answer.
      if (apiName === "Heartbeat" || apiName === "SyncGroup") this.#requestMs = Math.max(0, duration);
    });
    consumer.on(HEARTBEAT, () => this.#heard(this.#requestMs));
    consumer.on(REBALANCING, () => {
      this.#session.end();
      void this.#commit();
    });
    consumer.on(GROUP_JOIN, ({ payload }) => {
      this.#rejoin(payload.memberId, payload.memberAssignment[this.#parts.topic] ?? []);
    });
    consumer.on(CRASH, ({ payload }) => this.#over.resolve(payload.error));
  }

  #leaving(): readonly number[] {
    this.#session.end();
    return this.#assigned;
  }

  #rejoin(memberId: string, assigned: readonly number[]): void {
    if (this.#ended) return;
    const { logger } = this.#parts;
    // A new id means that the group had removed this member, and others may have owned its partitions.
    if (this.#memberId !== undefined && this.#memberId !== memberId) this.#taker.reassign(() => true, this.#session);
    this.#memberId = memberId;
    this.#assigned = assigned.toSorted((a, b) => a - b);
    this.#uncommitted.clear();
    this.#session = this.#newSession(this.#requestMs);
    this.#heardAt = this.#parts.clock.monotonic();
    this.#joined = true;
    const mine = new Set(assigned);
    // The join may have revealed more partitions.
    this.#partitions = this.#countPartitions();
    logger.info({ partitions: this.#assigned, of: this.#partitions }, "work queue: share taken");
    this.#taker.reassign((destinationId) => !mine.has(this.#partitionOf(destinationId)), this.#session);
  }

  #partitionOf(destinationId: string): number {
    return partitionOf(destinationId, this.#partitions);
  }

  #newSession(ageMs: number): GroupSession {
    return new GroupSession(this.#parts.clock, Math.min(sessionTimeoutMs, rebalanceTimeoutMs), ageMs);
  }

  #heard(ageMs: number): void {
    // After a failed join the driver goes on with its old partitions, without end.
    if (this.#session.ended) return;
    this.#session.renew(ageMs);
    this.#heardAt = this.#parts.clock.monotonic();
  }

  #take(payload: EachBatchPayload): void {
    const { batch } = payload;
    // A batch fetched before a rebalance may come after it.
    if (this.#ended || !this.#assigned.includes(batch.partition)) return;
    // Items published before the topic grew may be another member's, which finds them in the due index.
    const items = batch.messages.flatMap((message) => this.#read(message, batch.partition))
      .filter(({ destinationId }) => this.#partitionOf(destinationId) === batch.partition);
    if (items.length > 0) this.#taker.take(items, this.#session);
    const last = batch.lastOffset();
    payload.resolveOffset(last);
    this.#uncommitted.set(batch.partition, String(BigInt(last) + 1n));
    if (this.#parts.clock.monotonic() - this.#committedAt >= commitEveryMs) void this.#commit();
  }

  #read({ value, offset }: KafkaMessage, partition: number): readonly WorkItem[] {
    const item = decodeItem(value);
    const { metrics, logger, topic } = this.#parts;
    if (item === "newer") logger.debug({ topic, partition, offset }, "a newer release's queue message is passed over");
    else if (item) return [item];
    else {
      metrics.anomaly("queue message");
      logger.warn({ topic, partition, offset, bytes: value?.length ?? 0 }, "a queue message is unreadable: set aside");
    }
    return [];
  }

  /** A failed commit does no harm: items may be taken twice, and the next commit makes up for it. */
  async #commit(): Promise<void> {
    this.#committedAt = this.#parts.clock.monotonic();
    if (this.#uncommitted.size === 0) return;
    const { topic, logger } = this.#parts;
    const assigned = this.#assigned;
    const offsets = [...this.#uncommitted].map(([partition, offset]) => ({ topic, partition, offset }));
    this.#uncommitted.clear();
    try {
      await this.#consumer.commitOffsets(offsets);
    } catch (error) {
      logger.debug({ err: error, topic }, "offsets were not committed");
      // After a join, another member may have committed later offsets.
      if (this.#assigned !== assigned) return;
      for (const { partition, offset } of offsets) {
        if (!this.#uncommitted.has(partition)) this.#uncommitted.set(partition, offset);
      }
    }
  }

  #watch(): void {
    const { clock } = this.#parts;
    this.#timer = clock.schedule(checkEveryMs, () => {
      if (clock.monotonic() - this.#heardAt > patienceMs) {
        this.#over.resolve(new Error(`the group was silent, or no join succeeded, for ${patienceMs} ms`));
        return;
      }
      void this.#commit();
      this.#watch();
    });
  }
}

/** A membership from one join to the next rebalance. */
export class GroupSession implements QueueSession {
  readonly #clock: Clock;
  readonly #lastsMs: number;
  #seenAt: number;
  #ended = false;

  /** The group reassigns a share at the earliest `lastsMs` after it heard from the member, at least `ageMs` ago. */
  constructor(clock: Clock, lastsMs: number, ageMs: number) {
    this.#clock = clock;
    this.#lastsMs = lastsMs;
    this.#seenAt = clock.monotonic() - ageMs;
  }

  get ended(): boolean {
    return this.#ended;
  }

  get alive(): boolean {
    return !this.#ended && this.#clock.monotonic() < this.#seenAt + this.#lastsMs;
  }

  /** The group heard from the member at most `ageMs` ago. */
  renew(ageMs: number): void {
    this.#seenAt = Math.max(this.#seenAt, this.#clock.monotonic() - ageMs);
  }

  end(): void {
    this.#ended = true;
  }
}
