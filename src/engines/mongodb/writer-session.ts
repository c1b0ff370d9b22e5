import { randomUUID } from "node:crypto";
import { MongoServerError, type Binary, type ClientSession, type Filter, type UpdateFilter } from "mongodb";
import { ReadModelsTakenOver, ReadModelsUnavailable } from "../../kernel/ports/read-models.ts";
import { patience, type MongoConnection } from "./connection.ts";
import { stateId, states, storedIn, type State } from "./generation.ts";
import { withoutInsert, type Operation } from "./operations.ts";
import { duplicateKey } from "./upsert.ts";

/** A writer's session since one takeover; changes state and read models while the state names it. */
export class WriterSession {
  /** Unique, unlike a session's id. */
  readonly name = randomUUID();
  readonly #connection: MongoConnection;
  readonly #session: ClientSession;

  constructor(connection: MongoConnection) {
    this.#connection = connection;
    this.#session = connection.startSession();
  }

  get id(): Binary {
    return this.#session.id!.id;
  }

  /** Throws ReadModelsTakenOver if the state names another writer. */
  async change(update: UpdateFilter<State>, { session }: { readonly session?: ClientSession } = {}): Promise<void> {
    const filter = { _id: stateId, writer: this.name } as Filter<State>;
    const { matchedCount } = await this.#ask((signal) =>
      states(this.#connection).updateOne(filter, update, { signal, ...(session && { session }) }));
    if (matchedCount === 0) throw takenOver();
  }

  /**
   * Changes state and documents, all or nothing; after an error, the session is over. The state comes first, so that a
   * suspended writer fails before it locks a document. `update` must change something, or a takeover goes unnoticed.
   */
  async transaction(
    update: UpdateFilter<State>, generation: number, operations: ReadonlyMap<string, readonly Operation[]>,
  ): Promise<void> {
    const named = [...operations].map(([name, some]) => [storedIn(generation, name), some] as const);
    try {
      await this.#carryOut(update, named);
    } catch (error) {
      if (!isThere(error)) throw error;
      await this.#ask(() => this.#session.abortTransaction());
      await this.#carryOut(update, named.map(([name, some]) => [name, some.map(withoutInsert)]));
    }
  }

  async #carryOut(
    update: UpdateFilter<State>, operations: readonly (readonly [collection: string, readonly Operation[]])[],
  ): Promise<void> {
    const session = this.#session;
    session.startTransaction();
    await this.change(update, { session });
    for (const [name, some] of operations) {
      if (some.length === 0) continue;
      const collection = this.#connection.db.collection(name);
      // An ordered bulk write needs a command for each change of kind.
      await this.#ask((signal) => collection.bulkWrite(some, { ordered: false, session, signal }));
    }
    await this.#ask(() => session.commitTransaction());
  }

  end(): void {
    void this.#session.endSession();
  }

  #ask<Result>(question: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    return this.#connection.reach(ReadModelsUnavailable, patience.writeMs, question);
  }
}

function isThere(error: unknown): boolean {
  const cause = error instanceof ReadModelsUnavailable ? error.cause : undefined;
  return cause instanceof MongoServerError && cause.code === duplicateKey;
}

/** The error after a takeover by another writer. */
export function takenOver(): ReadModelsTakenOver {
  return new ReadModelsTakenOver("another writer of the read models has taken over");
}
