import type { SealedCertificate } from "../../src/features/destinations/certificates/facts.ts";
import type { Change, Collection } from "../../src/kernel/ports/read-models.ts";
import { put, remove, type Projection } from "../projection.ts";

/** The end of a destination's client certificate, as long as its expiry is not recorded. */
export type CertificateEndDocument = {
  /** The destination's id. */
  readonly id: string;
  readonly tenantId: string;
  readonly notAfter: string;
};

/** Ends of client certificates that are to be recorded. */
export const certificateEnds: Collection<CertificateEndDocument> = {
  name: "certificateEnds",
  key: "id",
  fields: { id: "id", tenantId: "id", notAfter: "time" },
  indexes: [["notAfter"]],
};

function configured({ destinationId: id, tenantId, clientCertificate }: {
  readonly destinationId: string; readonly tenantId: string; readonly clientCertificate?: SealedCertificate;
}): Change[] {
  return clientCertificate ? [put(certificateEnds, { id, tenantId, notAfter: clientCertificate.notAfter })] : [];
}

function none({ destinationId }: { readonly destinationId: string }): Change[] {
  return [remove(certificateEnds, destinationId)];
}

/** Tracks the ends of client certificates, for the sweeper. */
export const certificateEndsProjection: Projection = {
  name: "certificateEnds",
  version: 1,
  collections: [certificateEnds],
  on: {
    DestinationRegistered: configured,
    DestinationCertificateConfigured: configured,
    DestinationCertificateRemoved: none,
    DestinationCertificateExpiring: none,
    DestinationDeleted: none,
  },
};
