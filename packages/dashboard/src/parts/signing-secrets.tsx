import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { relayClock } from "../api/clock.ts";
import { Dialog, useQuestion } from "./dialog.tsx";
import { Field, Form } from "./form.tsx";
import { Table } from "./table.tsx";
import { Countdown, Moment } from "./time.tsx";

/** The secrets that sign: the current one, and older ones until they end. */
export interface SigningSecrets {
  /** The beginning of the SHA-256 of the current secret. */
  readonly fingerprint: string;
  readonly since: string;
  readonly previous: readonly PreviousSecret[];
}

type PreviousSecret = NonNullable<Schemas["WebhookSecret"]["previous"]>[number];

/** The older secrets that have not ended yet. */
export function stillSigning(previous: readonly PreviousSecret[] | undefined): readonly PreviousSecret[] {
  return (previous ?? []).filter(({ expiresAt }) => Date.parse(expiresAt) > relayClock.now());
}

/** The older secrets that sign, each with its end. */
export function PreviousSecrets({ previous }: Pick<SigningSecrets, "previous">): ReactNode {
  if (previous.length === 0) return null;
  return (
    <Table
      stacked rows={previous} keyOf={({ fingerprint }) => fingerprint} caption={<h2>Older secrets</h2>}
      columns={[
        { head: "Fingerprint", kind: "main", cell: ({ fingerprint }) => <code>{fingerprint}</code> },
        { head: "Ends", label: "Ends", cell: ({ expiresAt }) => <Countdown to={expiresAt} /> },
        { head: "At", label: "At", cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
      ]}
    />
  );
}

const overlaps = [[0, "no time: they end now"], [3_600, "1 hour"], [86_400, "1 day"], [604_800, "7 days"]] as const;
const usual = 86_400;

/** Asks how long older secrets sign beside the new one, and for a secret of one's own. */
export function ReplaceSecret({ title, name, replace, close }: {
  readonly title: string;
  /** The name to type before receivers may refuse deliveries. */
  readonly name: string;
  readonly replace: (request: Schemas["ReplaceSecretRequest"]) => Promise<void>;
  readonly close: () => void;
}): ReactNode {
  const { ask, dialog } = useQuestion();
  const submit = async ({ gracePeriodSeconds, secret = "" }: Readonly<Record<string, string>>) => {
    const seconds = Number(gracePeriodSeconds);
    const goesOn = seconds > 0 || await ask({
      title: "Replace it at once?", act: "Make a new secret", type: name,
      children: <p>Receivers that verify with an older secret refuse deliveries until you give them the new one.</p>,
    });
    if (!goesOn) return false;
    return replace({ gracePeriodSeconds: seconds, ...(secret !== "" && { secret }) });
  };
  return (
    <Dialog title={title} close={close}>
      <p>Deliveries from then on are signed with the new secret, retries of earlier events too.</p>
      <Form label="Make a new secret" cancel={close} keeps guarded={false} submit={submit}>
        <Field
          name="gracePeriodSeconds" label="Older secrets sign, too, for"
          hint="Give your receivers the new one in that time: none refuses a delivery."
        >
          {(props) => (
            <select {...props} defaultValue={usual}>
              {overlaps.map(([seconds, text]) => <option key={seconds} value={seconds}>{text}</option>)}
            </select>
          )}
        </Field>
        <Field
          name="secret" label="Your own secret (optional)"
          hint="whsec_ and the base64 of 24 to 64 bytes. Empty: the relay makes one."
        >
          {(props) => <input {...props} type="password" autoComplete="new-password" />}
        </Field>
      </Form>
      {dialog}
    </Dialog>
  );
}
