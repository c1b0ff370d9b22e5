import type { MessagePort } from "node:worker_threads";
import { ExpiringStateUnavailable, type ExpiringState } from "../../../../src/kernel/ports/expiring-state.ts";
import { remote, type MethodsOf, type Remote } from "../../../../src/kernel/threads/calls.ts";

const methods: MethodsOf<ExpiringState> = {
  get: true, put: true, admit: true, forgive: true, lease: true, release: true, tally: true, tallies: true,
  dropTallies: true,
};

/** The expiring state that another thread serves at the other end of a port. */
export function remoteExpiringState(port: MessagePort): Remote<ExpiringState> {
  return remote(port, methods, (message) => new ExpiringStateUnavailable(message));
}
