import type { ReactNode } from "react";
import { relayAddress } from "../api/relay.ts";
import { useMe } from "../app/session.ts";
import { Copy } from "./copy.tsx";
import styles from "./ingest-address.module.css";

/** Where events are posted with an ingest token, and a command that posts one. */
export function IngestAddress({ token }: { readonly token: string }): ReactNode {
  const { tenant } = useMe();
  const address = new URL(`api/v1/ingest/${tenant.id}/${token}`, relayAddress).href;
  const curl = [
    `curl -X POST '${address}'`,
    "-H 'Content-Type: application/json'",
    `-H "X-API-Key: $RELAY_API_KEY"`,
    `-d '{"type": "hello", "data": {}}'`,
  ].join(" \\\n  ");
  return (
    <dl className={styles.ingestAddress}>
      <dt>Events are posted to <Copy text={address} label="Copy the address" /></dt>
      <dd><code>{address}</code></dd>
      <dt>With an API key in <code>RELAY_API_KEY</code> <Copy text={curl} label="Copy the command" /></dt>
      <dd><pre><code>{curl}</code></pre></dd>
    </dl>
  );
}
