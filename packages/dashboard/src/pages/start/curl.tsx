import type { ReactNode } from "react";
import { relayAddress } from "../../api/relay.ts";
import { Copy } from "../../parts/copy.tsx";
import shared from "../../style/shared.module.css";
import styles from "./start.module.css";

/** The secrets that were made on this page. */
export interface Access {
  readonly token?: string | undefined;
  readonly key?: string | undefined;
}

/** The request of the first event for a shell. Secrets are masked where it is shown, and whole where it is copied. */
export function Curl({ tenantId, access }: { readonly tenantId: string; readonly access: Access }): ReactNode {
  return (
    <>
      <p>Post an event from a shell:</p>
      <div className={styles.curl}>
        <pre tabIndex={0} aria-label="curl"><code>{curlText(relayAddress, tenantId, {
          token: masked(access.token), key: masked(access.key),
        })}</code></pre>
        <Copy text={curlText(relayAddress, tenantId, access)} label="Copy the command" />
      </div>
      {access.token !== undefined && access.key !== undefined
        ? <p className={shared.small}>Copied, it has the token and the key.</p>
        : <p className={shared.small}>Put in {missing(access)}: the relay has shown it once, and cannot again.</p>}
    </>
  );
}

/** The command that posts a first event; a place for each secret that is not known. */
function curlText(
  address: string, tenantId: string, { token = "INGEST_TOKEN", key = "API_KEY" }: Access,
): string {
  return [
    `curl -i '${address}api/v1/ingest/${tenantId}/${token}'`,
    `-H 'X-Api-Key: ${key}'`,
    "-H 'X-Idempotency-Key: first-event'",
    "-H 'Content-Type: application/json'",
    `-d '{"hello":"world"}'`,
  ].join(" \\\n  ");
}

function masked(secret: string | undefined): string | undefined {
  return secret === undefined ? undefined : secret.replace(/_.*/, "_…");
}

function missing({ token, key }: Access): string {
  if (token === undefined && key === undefined) return "the ingest token and the API key";
  return token === undefined ? "the ingest token" : "the API key";
}
