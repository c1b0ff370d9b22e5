import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { Moment } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";
import { CertificateSettings } from "./certificate-settings.tsx";
import { DeliverySettings } from "./delivery-settings.tsx";
import styles from "./destination.module.css";
import { HeadersSettings } from "./headers-settings.tsx";
import { IdentitySettings } from "./identity-settings.tsx";
import { OrderingSettings } from "./ordering-settings.tsx";
import { RetrySettings } from "./retry-settings.tsx";
import { SigningSettings } from "./signing-settings.tsx";

/** The settings of a destination, in groups that are saved one by one. */
export function Settings({ destination }: { readonly destination: Schemas["Destination"] }): ReactNode {
  const { createdAt, updatedAt } = destination;
  return (
    <section aria-label="Settings" className={styles.destinationSettings}>
      <IdentitySettings destination={destination} />
      <DeliverySettings destination={destination} />
      <HeadersSettings destination={destination} />
      <SigningSettings destination={destination} />
      <CertificateSettings destination={destination} />
      <OrderingSettings destination={destination} />
      <RetrySettings destination={destination} />
      <p className={shared.small}>Created <Moment at={createdAt} />, changed last <Moment at={updatedAt} />.</p>
    </section>
  );
}
