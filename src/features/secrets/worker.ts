import { secretEnds, type SecretEndDocument } from "../../../projections/secrets/secret-ends.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { serviceOrigin } from "../../kernel/log/origin.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import type { Instruments } from "../../kernel/ports/telemetry.ts";
import { DueDocuments } from "../../kernel/workers/due-documents.ts";
import { decide as decideDestination } from "../destinations/decide.ts";
import { destinations } from "../destinations/facts.ts";
import { decide } from "../tenants/decide.ts";
import { tenants } from "../tenants/facts.ts";

/** Records the ends of older secrets: a clock that is set back later revives none. */
export class SecretExpiry {
  readonly #parts;
  readonly #due: DueDocuments<SecretEndDocument>;

  constructor(parts: Instruments & Pick<KernelParts, "readModels" | "aggregates" | "ids">) {
    this.#parts = parts;
    this.#due = new DueDocuments(parts, {
      collection: secretEnds,
      field: "expiresAt",
      record: (end) => this.#record(end),
      about: ({ tenantId }) => ({ tenantId }),
      failed: "the end of older secrets was not recorded; it is tried again",
      stillFails: "ends of older secrets were still not recorded",
    });
  }

  /** Records the ends that have come, until `isOver`. */
  run(isOver: () => boolean): Promise<void> {
    return this.#due.run(timestampNow(this.#parts.clock), isOver);
  }

  async #record({ tenantId, destinationId }: SecretEndDocument): Promise<void> {
    const { aggregates, clock, ids } = this.#parts;
    const command = { type: "RecordExpiredSecrets", at: timestampNow(clock) } as const;
    const origin = serviceOrigin("sweeper", ids);
    if (destinationId === null) {
      await aggregates.change(tenants, tenantId, origin, (state) => state ? decide(state, command) : []);
    } else {
      await aggregates.change(destinations, destinationId, origin, (state) =>
        state && !state.deleted ? decideDestination(state, command) : []);
    }
  }
}
