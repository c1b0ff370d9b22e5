import type { Destination } from "../../domain/destination/state.ts";
import type { Webhook } from "../../domain/event/state.ts";
import type { Tenant } from "../../domain/tenant/state.ts";
import type { Outcome } from "./outcomes.ts";

/** Makes the one request of an attempt: authenticated, signed, over the guarded client. Never throws. */
export interface Sender {
  send(delivery: {
    readonly webhook: Webhook;
    readonly attempt: number;
    readonly destination: Destination;
    readonly tenant: Tenant;
  }): Promise<Outcome>;
}
