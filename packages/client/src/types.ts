import type { components, operations } from "../../../schemas/api.ts";

/** The types of requests and answers by their names in the API's description, such as `Schemas["Event"]`. */
export type Schemas = components["schemas"];

/** The name of an operation, such as `getEvent`. */
export type OperationId = keyof operations;

/** The path, query and header parameters of an operation in one object; `unknown` where it has none. */
export type ParametersOf<Id extends OperationId> =
  Given<operations[Id]["parameters"], "path"> &
  Given<operations[Id]["parameters"], "query"> &
  Given<operations[Id]["parameters"], "header">;

/** The body of an operation; `never` without one, with `undefined` where it is optional. */
export type BodyOf<Id extends OperationId> =
  operations[Id] extends { requestBody: { content: { "application/json": infer Body } } } ? Body
    : operations[Id] extends { requestBody?: { content: { "application/json": infer Body } } } ? Body | undefined
      : never;

/** The type of an operation's answer: JSON, a text, or undefined where its answer has no body. */
export type AnswerOf<Id extends OperationId> = ContentOf<Successes<operations[Id]["responses"]>>;

/** A page of a list, and the whole list by `for await`: see `paged`. */
export interface Listed<Page, Item> extends Promise<Page>, AsyncIterable<Item> {}

type Given<Parameters, Kind extends string> =
  Kind extends keyof Parameters
    ? [Exclude<Parameters[Kind], undefined>] extends [never] ? unknown : Exclude<Parameters[Kind], undefined>
    : unknown;

type Successes<Responses> = Responses[keyof Responses & (200 | 201 | 202 | 204)];

type ContentOf<Response> = Response extends { content: { "application/json": infer Json } } ? Json
  : Response extends { content: infer Content }
    ? Content extends Record<string, unknown> ? Content[keyof Content] : undefined
    : undefined;
