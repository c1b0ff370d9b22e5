import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { useMay } from "../../app/session.ts";
import { Copy } from "../../parts/copy.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, Form } from "../../parts/form.tsx";
import { Confirm } from "../../parts/questions.tsx";
import { Countdown, Moment, useNow } from "../../parts/time.tsx";
import { dayMs } from "../../parts/times.ts";
import shared from "../../style/shared.module.css";
import { SettingsGroup } from "./settings-group.tsx";
import { useUpdate } from "./use-destination.ts";
import { waitingText } from "./waiting.ts";

type Destination = Schemas["Destination"];

/** The names of the fields, as the API's errors name them. */
const names = { certificate: "clientCertificate.certificate", privateKey: "clientCertificate.privateKey" } as const;

/** How long before its end the page warns of a certificate. */
const warningMs = 14 * dayMs;

/** The client certificate of a destination, and the acts on it. */
export function CertificateSettings({ destination }: { readonly destination: Destination }): ReactNode {
  const { id, clientCertificate, health } = destination;
  const mayChange = useMay()("updateDestination");
  const update = useUpdate(id);
  const [asks, setAsks] = useState<"set" | "remove">();
  const close = () => setAsks(undefined);
  const set = async ({ [names.certificate]: certificate = "", [names.privateKey]: privateKey = "" }) => {
    await update({ clientCertificate: { certificate, privateKey } });
    close();
  };
  return (
    <SettingsGroup
      title="Client certificate"
      about="Shown in the TLS handshake to a receiver that asks for one, and to the token endpoint of its credentials."
      affects={waitingText(health, "A change applies from the next attempt on.", "They are sent with it then.")}
    >
      <div className={shared.section}>
        {clientCertificate ? <Shown certificate={clientCertificate} /> : <p>None.</p>}
        {mayChange && (
          <div className={shared.acts}>
            <button type="button" onClick={() => setAsks("set")}>
              {clientCertificate ? "Replace the certificate…" : "Set a certificate…"}
            </button>
            {clientCertificate && (
              <button type="button" className={shared.danger} onClick={() => setAsks("remove")}>
                Remove the certificate…
              </button>
            )}
          </div>
        )}
      </div>
      {asks === "set" && (
        <Dialog title="Client certificate" close={close}>
          <Form submit={set} label="Set the certificate" cancel={close} keeps>
            <Field name={names.certificate} label="Certificate" hint="PEM, with intermediate certificates behind it.">
              {(props) => <textarea {...props} rows={6} spellCheck={false} placeholder="-----BEGIN CERTIFICATE-----" />}
            </Field>
            <Field name={names.privateKey} label="Private key" hint="PEM, without a passphrase. Never shown again.">
              {(props) => <textarea {...props} rows={6} spellCheck={false} placeholder="-----BEGIN PRIVATE KEY-----" />}
            </Field>
          </Form>
        </Dialog>
      )}
      {asks === "remove" && (
        <Confirm
          title="Remove the certificate?" act="Remove it" close={close} run={() => update({ clientCertificate: null })}
        >
          <p>A receiver that demands one refuses the connection from the next attempt on.</p>
        </Confirm>
      )}
    </SettingsGroup>
  );
}

function Shown({ certificate: { fingerprint, notAfter } }: {
  readonly certificate: NonNullable<Destination["clientCertificate"]>;
}): ReactNode {
  const leftMs = Date.parse(notAfter) - useNow();
  return (
    <>
      <dl className={shared.facts}>
        <dt>SHA-256</dt><dd><code>{fingerprint}</code> <Copy text={fingerprint} label="Copy the fingerprint" /></dd>
        <dt>{leftMs > 0 ? "Expires" : "Expired"}</dt><dd><Moment at={notAfter} /> (<Countdown to={notAfter} />)</dd>
      </dl>
      {leftMs < warningMs && (
        <p className={shared.stale}>
          {leftMs > 0 ? "It expires soon. Every attempt fails from then on: replace it before."
            : "It has expired: every attempt fails until you replace it."}
        </p>
      )}
    </>
  );
}
