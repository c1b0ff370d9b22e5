import type { ReactNode } from "react";
import { relayAddress } from "../../api/relay.ts";
import { Copy } from "../../parts/copy.tsx";
import { SecretDialog } from "../../parts/questions.tsx";
import styles from "./senders.module.css";

/** The address that events are posted to, the token in it as a shell's variable unless it is given. */
export function ingestAddress(tenantId: string, token = "$INGEST_TOKEN"): string {
  return `${relayAddress}api/v1/ingest/${tenantId}/${token}`;
}

/** A command for POSIX shells that posts an event. The API key, and the token unless it is given, are variables. */
export function ingestCommand(tenantId: string, token?: string): string {
  return [
    `curl "${ingestAddress(tenantId, token)}"`,
    '-H "X-API-Key: $API_KEY"',
    "-H 'Content-Type: application/json'",
    `-d '{"hello":"world"}'`,
  ].join(" \\\n  ");
}

/** A command, or another line for a shell, with a button that copies it. */
export function Command({ text, label = "Copy the command" }: {
  readonly text: string; readonly label?: string;
}): ReactNode {
  return (
    <div className={styles.command}>
      <pre>{text}</pre>
      <Copy text={text} label={label} />
    </div>
  );
}

/** Shows the token of a sender once, and the command that posts an event with it. */
export function TokenDialog({ title, tenantId, token, done }: {
  readonly title: string; readonly tenantId: string; readonly token: string; readonly done: () => void;
}): ReactNode {
  return (
    <SecretDialog title={title} secret={token} done={done}>
      <p>It is the last part of the address that events are posted to:</p>
      <Command text={ingestCommand(tenantId, token)} />
    </SecretDialog>
  );
}
