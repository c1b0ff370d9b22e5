import { certificateEnds, type CertificateEndDocument } from "../../../../projections/certificates/certificate-ends.ts";
import type { KernelParts } from "../../../kernel/kernel-parts.ts";
import { serviceOrigin } from "../../../kernel/log/origin.ts";
import { timestampNow } from "../../../kernel/ports/clock.ts";
import type { Instruments } from "../../../kernel/ports/telemetry.ts";
import { DueDocuments } from "../../../kernel/workers/due-documents.ts";
import { decide } from "../decide.ts";
import { destinations } from "../facts.ts";
import { expiringUntil } from "./facts.ts";

/** Records client certificates that expire soon, which notifications tell of. */
export class CertificateExpiry {
  readonly #parts;
  readonly #due: DueDocuments<CertificateEndDocument>;

  constructor(parts: Instruments & Pick<KernelParts, "readModels" | "aggregates" | "ids">) {
    this.#parts = parts;
    this.#due = new DueDocuments(parts, {
      collection: certificateEnds,
      field: "notAfter",
      record: (end) => this.#record(end),
      about: ({ id: destinationId, tenantId }) => ({ tenantId, destinationId }),
      failed: "an expiring client certificate was not recorded; it is tried again",
      stillFails: "expiring client certificates were still not recorded",
    });
  }

  /** Records the certificates that expire soon, until `isOver`. */
  run(isOver: () => boolean): Promise<void> {
    return this.#due.run(expiringUntil(this.#parts.clock.now()), isOver);
  }

  async #record({ id: destinationId }: CertificateEndDocument): Promise<void> {
    const { aggregates, clock, ids } = this.#parts;
    const command = { type: "RecordCertificateExpiry", at: timestampNow(clock) } as const;
    await aggregates.change(destinations, destinationId, serviceOrigin("sweeper", ids), (state) =>
      (state && !state.deleted ? decide(state, command) : []));
  }
}
