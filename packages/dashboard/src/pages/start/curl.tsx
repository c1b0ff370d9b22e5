import type { ReactNode } from "react";
import { relayAddress } from "../../api/relay.ts";
import { Copy } from "../../parts/copy.tsx";
import shared from "../../style/shared.module.css";
import styles from "./start.module.css";

/** The secrets that were made on this page. */
export interface Access {
  /** The ingest token of a destination. */
  readonly ingest?: { readonly destinationId: string; readonly token: string };
  /** The API key. */
  readonly key?: string;
}

/** The secrets of a request, as far as they are known. */
interface Secrets {
  readonly token: string | undefined;
  readonly apiKey: string | undefined;
}

/** The request of the first event for a shell. Secrets are masked where it is shown, and whole where it is copied. */
export function Curl({ tenantId, ...known }: Secrets & { readonly tenantId: string }): ReactNode {
  return (
    <>
      <p>Post an event from a shell:</p>
      <div className={styles.curl}>
        <pre tabIndex={0} aria-label="curl"><code>{curlText(relayAddress, tenantId, {
          token: masked(known.token), apiKey: masked(known.apiKey),
        })}</code></pre>
        <Copy text={curlText(relayAddress, tenantId, known)} label="Copy the command" />
      </div>
      {known.token !== undefined && known.apiKey !== undefined
        ? <p className={shared.small}>Copied, it has the token and the key.</p>
        : <p className={shared.small}>Put in {missing(known)}: the relay has shown it once, and cannot again.</p>}
    </>
  );
}

/** The command that posts a first event; a place for each secret that is not known. */
function curlText(
  address: string, tenantId: string, { token = "INGEST_TOKEN", apiKey = "API_KEY" }: Secrets,
): string {
  return [
    `curl -i '${address}api/v1/ingest/${tenantId}/${token}'`,
    `-H 'X-Api-Key: ${apiKey}'`,
    "-H 'X-Idempotency-Key: first-event'",
    "-H 'Content-Type: application/json'",
    `-d '{"hello":"world"}'`,
  ].join(" \\\n  ");
}

function masked(secret: string | undefined): string | undefined {
  return secret === undefined ? undefined : secret.replace(/_.*/, "_…");
}

function missing({ token, apiKey }: Secrets): string {
  if (token === undefined && apiKey === undefined) return "the ingest token and the API key";
  return token === undefined ? "the ingest token" : "the API key";
}
