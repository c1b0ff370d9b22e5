import type { MessagePort } from "node:worker_threads";
import type { Position } from "../../ports/event-store.ts";
import {
  ReadModelsUnavailable,
  type Document,
  type FieldValue,
  type Query,
  type ReadModels,
  type Selection,
} from "../../ports/read-models.ts";
import { answerCalls, Caller } from "../message-port/calls.ts";

/** Answers the {@link ReadModelsClient} at the other end of a port. Closing the port ends it. */
export function serveReadModels(port: MessagePort, readModels: ReadModels): void {
  answerCalls(port, {
    get: (collection: string, key: string) => readModels.get(collection, key),
    find: (query: Query) => readModels.find(query),
    count: (selection: Selection) => readModels.count(selection),
    distinct: (selection: Selection, field: string, options: { readonly after?: FieldValue; readonly limit: number }) =>
      readModels.distinct(selection, field, options),
    sum: (scope: string, from?: number, to?: number) => readModels.sum(scope, from, to),
    checkpoint: () => readModels.checkpoint(),
    caughtUp: (position: Position, timeoutMs: number) => readModels.caughtUp(position, timeoutMs),
  });
}

/** The read models of another thread. Questions asked in one turn of the event loop travel together. */
export class ReadModelsClient implements ReadModels {
  readonly #caller: Caller;

  constructor(port: MessagePort, options: { readonly maxPending: number } = { maxPending: 10_000 }) {
    this.#caller = new Caller(port, (message) => new ReadModelsUnavailable(`read models: ${message}`), options);
  }

  get(collection: string, key: string): Promise<Document | null> {
    return this.#caller.call("get", collection, key) as Promise<Document | null>;
  }

  find(query: Query): Promise<readonly Document[]> {
    return this.#caller.call("find", query) as Promise<readonly Document[]>;
  }

  count(selection: Selection): Promise<number> {
    return this.#caller.call("count", selection) as Promise<number>;
  }

  distinct(
    selection: Selection,
    field: string,
    options: { readonly after?: FieldValue; readonly limit: number },
  ): Promise<readonly FieldValue[]> {
    return this.#caller.call("distinct", selection, field, options) as Promise<readonly FieldValue[]>;
  }

  sum(scope: string, from?: number, to?: number): Promise<number> {
    return this.#caller.call("sum", scope, from, to) as Promise<number>;
  }

  checkpoint(): Promise<Position> {
    return this.#caller.call("checkpoint") as Promise<Position>;
  }

  caughtUp(position: Position, timeoutMs: number): Promise<boolean> {
    return this.#caller.call("caughtUp", position, timeoutMs) as Promise<boolean>;
  }

  /** Questions still under way fail. */
  close(): void {
    this.#caller.close();
  }
}
