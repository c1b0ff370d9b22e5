import { send, type CallOptions, type ClientOptions, type Operation, type Parameters } from "./call.ts";
import { linesOf, type LinesOf } from "./lines.ts";
import { operations } from "./operations.ts";
import { paged, type Page } from "./pages.ts";
import { followed, type FollowOptions, type StreamFrame } from "./stream.ts";
import type { AnswerOf, BodyOf, Listed, OperationId, ParametersOf } from "./types.ts";

/**
 * The whole API: a method for each operation of its description, by the same name. Arguments are the parameters (of
 * path, query and headers, in one object), the body, and options of the call, each where the operation has them:
 * `client.updateDestination({ id }, { serverRateLimit: 9 })`. A method rejects with a RelayError unless the relay
 * answers with success. A list is its page when awaited, and all its items by `for await`; the stream is its frames,
 * a search or an export its lines.
 */
export type RelayClient = { readonly [Id in OperationId]: Method<Id> };

type Method<Id extends OperationId> =
  (...given: [...ParametersGiven<ParametersOf<Id>>, ...BodyGiven<BodyOf<Id>>, options?: OptionsOf<Id>]) =>
  Id extends "followStream" ? AsyncGenerator<StreamFrame, void>
    : Id extends keyof LinesOf ? AsyncGenerator<LinesOf[Id], void> : Answered<AnswerOf<Id>>;

type OptionsOf<Id extends OperationId> = Id extends "followStream" ? FollowOptions : CallOptions;

type ParametersGiven<Wanted> =
  unknown extends Wanted ? [] : object extends Wanted ? [parameters?: Wanted] : [parameters: Wanted];

type BodyGiven<Body> = [Body] extends [never] ? [] : [body: Body];

type Answered<Answer> =
  [Answer] extends [{ items: (infer Item)[]; nextCursor: string | null }] ? Listed<Answer, Item> : Promise<Answer>;

/** A client of the relay at an address. It keeps no connection and no state, so one can be made for each caller. */
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
