import {
  send, open, type CallOptions, type ClientOptions, type Operation, type Parameters, type Call,
} from "./call.ts";
import { operations } from "./operations.ts";
import { unreachable } from "./relay-error.ts";
import { followed, type FollowOptions, type StreamFrame } from "./stream.ts";
import type { AnswerOf, BodyOf, Listed, OperationId, ParametersOf, Schemas } from "./types.ts";

/**
 * The whole API: a method for each operation of its description, by the same name. Arguments are the parameters (of
 * path, query and headers, in one object), the body, and options of the call, each where the operation has them:
 * `client.updateDestination({ id }, { serverRateLimit: 9 })`. A method rejects with a RelayError unless the relay
 * answers with success. A list is its page when awaited, and all its items by `for await`; the stream is its frames,
 * a search or an export its lines.
 */
export type RelayClient = { readonly [Id in OperationId]: Method<Id> };

/** The types of lines of the operations that answer in lines. */
export interface LinesOf {
  readonly searchEvents: Schemas["EventSearchLine"];
  readonly exportEvents: Schemas["EventExportLine"];
}

/** A page of a list. */
export interface Page {
  /** Unless `Total` is false. */
  readonly total?: number;
  readonly items: readonly unknown[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

type Method<Id extends OperationId> =
  (...given: [...ParametersGiven<ParametersOf<Id>>, ...BodyGiven<BodyOf<Id>>, options?: OptionsOf<Id>]) =>
  Id extends "followStream" ? AsyncGenerator<StreamFrame, void>
    : Id extends keyof LinesOf ? AsyncGenerator<LinesOf[Id], void> : Answered<AnswerOf<Id>>;

type OptionsOf<Id extends OperationId> = Id extends "followStream" ? FollowOptions : CallOptions;

type ParametersGiven<Wanted> =
  unknown extends Wanted ? [] : object extends Wanted ? [parameters?: Wanted] : [parameters: Wanted];

type BodyGiven<Body> =
  [Body] extends [never] ? [] : undefined extends Body ? [body?: Body] : [body: Body];

type Answered<Answer> =
  [Answer] extends [{ items: (infer Item)[]; nextCursor: string | null }] ? Listed<Answer, Item> : Promise<Answer>;

/** A client of a relay. It keeps no connection and no state. */
export function createClient(client: ClientOptions): RelayClient {
  const methods = Object.entries<Operation>(operations).map(([id, operation]) => {
    const method = (...given: unknown[]): Promise<unknown> | AsyncGenerator<unknown, void> => {
      const parameters = (operation.parameters ? given.shift() ?? {} : {}) as Parameters;
      const body = operation.body ? given.shift() : undefined;
      const [options = {}] = given as [CallOptions?];
      const call = { id, operation, parameters, options, ...(body === undefined ? {} : { body }) };
      const ask = (asked: Parameters) => send(client, { ...call, parameters: asked });
      if (operation.stream) return followed(client, call);
      if (operation.lines) return linesOf(client, call);
      return operation.list ? paged(ask as (asked: Parameters) => Promise<Page>, parameters) : ask(parameters);
    };
    return [id, method] as const;
  });
  return Object.fromEntries(methods) as unknown as RelayClient;
}

/**
 * The lines of an answer as they come; the last has `end`. Rejects as any operation does, and if the last line is
 * missing.
 */
export async function* linesOf(client: ClientOptions, call: Call): AsyncGenerator<LinesOf[keyof LinesOf], void> {
  const { body } = await open(client, call, async (answer) => answer);
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
      const lines = (text + read.value).split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) {
        const value = JSON.parse(line) as LinesOf[keyof LinesOf];
        yield value;
        if ("end" in value) return;
      }
    }
  } catch (error) {
    throw call.options.signal?.aborted ? error : unreachable(call.id, error);
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
  throw unreachable(call.id, new Error("the answer is incomplete"));
}

/**
 * Requests one page at once, and the later ones as `for await` comes to them. Items added or removed meanwhile move no
 * others.
 */
export function paged(ask: (parameters: Parameters) => Promise<Page>, parameters: Parameters): Listed<Page, unknown> {
  const first = ask(parameters);
  return Object.assign(first, {
    async *[Symbol.asyncIterator]() {
      const { Pg: _, ...others } = parameters;
      for (let page = await first; ;) {
        yield* page.items;
        if (page.nextCursor === null) return;
        page = await ask({ ...others, Cursor: page.nextCursor });
      }
    },
  });
}
