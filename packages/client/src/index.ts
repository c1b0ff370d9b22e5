export { facts } from "../../../schemas/api.ts";
export { createClient, type RelayClient } from "./client.ts";
export { Producer, type Posting, type ProducerOptions } from "./producer.ts";
export { RelayError, type ErrorCode, type ErrorDetails } from "./relay-error.ts";
export type { CallOptions, ClientOptions } from "./call.ts";
export type { FollowOptions, Moved, StreamConnection, StreamFrame } from "./stream.ts";
export type { AnswerOf, BodyOf, Listed, OperationId, ParametersOf, Schemas } from "./types.ts";
export { SignatureError, verifyDelivery, type Delivery, type VerifiedDelivery } from "./verify.ts";
