import { at, fact, type EventsOf } from "../../../kernel/domain/fact.ts";
import { matching, object, sealed, time, uuid, type ValueOf } from "../../../kernel/domain/schema.ts";
import { dayMs, millis, timestamp, type Timestamp } from "../../../kernel/domain/time.ts";

const ids = { destinationId: uuid(), tenantId: uuid(), at };
const told = ["destinationId", "tenantId", "at"] as const;
const fingerprint = matching("^[0-9a-f]{64}$", "SHA-256 of the certificate's DER, hex.");
const notAfter = time("When the certificate expires.");

/** The client certificate of a destination, as facts have it. */
export const clientCertificate = object({
  fingerprint, notAfter, pem: sealed("Certificate and private key, sealed under the tenant's data key."),
}, "The certificate that deliveries show to the receiver.");
/** A client certificate with its sealed private key. */
export type SealedCertificate = ValueOf<typeof clientCertificate>;
/** The shown part of a client certificate. */
export type ShownCertificate = Pick<SealedCertificate, "fingerprint" | "notAfter">;

/** Facts of a destination about its client certificate. */
export const certificateFacts = {
  DestinationCertificateConfigured: fact({
    data: { ...ids, clientCertificate },
    meaning: "The client certificate was set or replaced.",
    words: "set another client certificate",
    shown: [...told, "clientCertificate"],
    changes: ["clientCertificate"],
    audit: "destination",
    setting: "the destination's client certificate",
  }),
  DestinationCertificateRemoved: fact({
    data: ids,
    meaning: "The client certificate was removed.",
    words: "removed the client certificate",
    shown: told,
    audit: "destination",
    setting: "the destination's client certificate was removed",
    sets: { clientCertificate: null },
  }),
  DestinationCertificateExpiring: fact({
    data: { ...ids, fingerprint, notAfter },
    meaning: "The client certificate expires within 14 days. It is recorded once for each certificate.",
    words: "found the client certificate about to expire",
    shown: [...told, "fingerprint", "notAfter"],
    audit: "destination",
  }),
};
type CertificateEvent = EventsOf<typeof certificateFacts>;

/** The part of a destination that says which certificate its deliveries show. */
export interface OwnCertificate {
  /** Null: none is shown. */
  readonly clientCertificate: SealedCertificate | null;
  /** Whether it is recorded that the certificate expires soon. */
  readonly expiryRecorded: boolean;
}

/** Deliveries without a client certificate. */
export const noCertificate: OwnCertificate = { clientCertificate: null, expiryRecorded: false };

/** Folds one fact in. */
export function evolveCertificate<State extends OwnCertificate & { readonly updatedAt: Timestamp }>(
  state: State, event: CertificateEvent,
): State {
  const { at: updatedAt } = event.data;
  switch (event.type) {
    case "DestinationCertificateConfigured":
      return { ...state, ...noCertificate, clientCertificate: event.data.clientCertificate, updatedAt };
    case "DestinationCertificateRemoved":
      return { ...state, ...noCertificate, updatedAt };
    case "DestinationCertificateExpiring":
      return { ...state, expiryRecorded: true };
  }
}

/** How long before its end a certificate counts as expiring. */
const noticeMs = 14 * dayMs;

/** The time up to which certificates end that count as expiring `now` (ms). */
export function expiringUntil(now: number): Timestamp {
  return timestamp(now + noticeMs);
}

/** The fact that the certificate expires soon; none where it does not, or where that is recorded. */
export function expiryOf(
  destination: OwnCertificate & { readonly id: string; readonly tenantId: string }, at: Timestamp,
): CertificateEvent[] {
  const { id: destinationId, tenantId, clientCertificate, expiryRecorded } = destination;
  if (!clientCertificate || expiryRecorded) return [];
  const { fingerprint, notAfter } = clientCertificate;
  if (notAfter > expiringUntil(millis(at))) return [];
  return [{ type: "DestinationCertificateExpiring", data: { destinationId, tenantId, at, fingerprint, notAfter } }];
}

/** Whether a certificate has expired at a time (ms). */
export function isExpired({ notAfter }: Pick<ShownCertificate, "notAfter">, now: number): boolean {
  return now > millis(notAfter);
}

/** What is shown of a certificate: not its sealed text. */
export function shownCertificate(certificate: SealedCertificate | null): ShownCertificate | null {
  return certificate && { fingerprint: certificate.fingerprint, notAfter: certificate.notAfter };
}
