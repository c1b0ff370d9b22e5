import type { MessagePort } from "node:worker_threads";
import { ReadModelsUnavailable, type ReadModels } from "../../../../src/kernel/ports/read-models.ts";
import { remote, type MethodsOf, type Remote } from "../../../../src/kernel/threads/calls.ts";

const questions: MethodsOf<ReadModels> = {
  get: true, find: true, keys: true, count: true, distinct: true, sum: true, buckets: true, checkpoint: true,
  standsAt: true, settle: true, caughtUp: true,
};

/** The read models that another thread serves at the other end of a port. */
export function remoteReadModels(port: MessagePort): Remote<ReadModels> {
  return remote(port, questions, (message) => new ReadModelsUnavailable(message));
}
