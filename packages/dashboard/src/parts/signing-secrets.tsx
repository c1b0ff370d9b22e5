import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relayClock } from "../api/clock.ts";
import shared from "../style/shared.module.css";
import { Copy } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";
import dialogStyles from "./dialog.module.css";
import { Field, Form } from "./form.tsx";
import { Confirm, SecretDialog, useQuestion } from "./questions.tsx";
import { textOf } from "./states.tsx";
import { Table } from "./table.tsx";
import { Countdown, Moment } from "./time.tsx";

type Fact = Schemas["HistoryItem"];
type ReplaceRequest = Schemas["ReplaceSecretRequest"];
type PreviousSecret = NonNullable<Schemas["WebhookSecret"]["previous"]>[number];

/** The secrets that sign: the current one, and older ones until they end. */
export interface SigningSecrets {
  /** The beginning of the SHA-256 of the current secret. */
  readonly fingerprint: string;
  readonly since: string;
  readonly previous: readonly PreviousSecret[];
}

/** The acts on the secrets of a tenant or destination. An act is missing where the caller has no right to it. */
export interface SecretActs {
  readonly show?: () => Promise<Schemas["WebhookSecret"]>;
  readonly replace?: (request: ReplaceRequest) => Promise<Schemas["WebhookSecret"]>;
  readonly expire?: () => Promise<unknown>;
  readonly remove?: () => Promise<unknown>;
}

/** The older secrets that have not ended yet. */
export function stillSigning(previous: readonly PreviousSecret[] | undefined): readonly PreviousSecret[] {
  return (previous ?? []).filter(({ expiresAt }) => Date.parse(expiresAt) > relayClock.now());
}

/** The newest fact of a type in a history; undefined without one. `ask` lists facts of one type. */
export async function newestFact<Type extends Fact["type"]>(
  Type: Type,
  ask: (question: {
    readonly Type: Type; readonly TpOrd: "Desc"; readonly Qt: 1; readonly Total: false;
  }) => PromiseLike<{ readonly items: readonly Fact[] }>,
): Promise<Extract<Fact, { readonly type: Type }> | undefined> {
  const { items } = await ask({ Type, TpOrd: "Desc", Qt: 1, Total: false });
  return items.find((fact): fact is Extract<Fact, { readonly type: Type }> => fact.type === Type);
}

/** The secret that signs, the acts on it, and the older secrets that sign, too. */
export function SigningSecret({ called, owner, secrets, acts, changed }: {
  /** Its name in titles, such as `webhook secret`. */
  readonly called: string;
  /** The name of its tenant or destination, to type before receivers may refuse deliveries. */
  readonly owner: string;
  /** Null while there is none. */
  readonly secrets: SigningSecrets | null;
  readonly acts: SecretActs;
  /** Reads the secrets again. */
  readonly changed: () => Promise<unknown>;
}): ReactNode {
  const [asks, setAsks] = useState<"replace" | "expire" | "remove">();
  const [secret, setSecret] = useState<{ readonly text: string; readonly isNew: boolean }>();
  const [problem, setProblem] = useState("");
  const { show, replace, expire, remove } = acts;
  const reveal = () => {
    setProblem("");
    show?.().then(
      ({ webhookSecret }) => setSecret({ text: webhookSecret, isNew: false }),
      (error: unknown) => setProblem(textOf(error)),
    );
  };
  const close = () => setAsks(undefined);
  const hide = () => setSecret(undefined);
  return (
    <>
      {secrets && (
        <dl className={shared.facts}>
          <dt>Fingerprint</dt><dd><code>{secrets.fingerprint}</code></dd>
          <dt>In use since</dt><dd><Moment at={secrets.since} /></dd>
        </dl>
      )}
      <div className={shared.acts}>
        {show && secrets && <button type="button" onClick={reveal}>Show the secret</button>}
        {replace && <button type="button" onClick={() => setAsks("replace")}>Make a new secret…</button>}
        {expire && secrets && secrets.previous.length > 0 && (
          <button type="button" className={shared.danger} onClick={() => setAsks("expire")}>
            End older secrets now…
          </button>
        )}
        {remove && secrets && (
          <button type="button" className={shared.danger} onClick={() => setAsks("remove")}>Remove the secret…</button>
        )}
      </div>
      {secrets && <PreviousSecrets previous={secrets.previous} />}
      {problem !== "" && <p className={shared.problem} role="alert">{problem}</p>}
      {asks === "replace" && replace && (
        <ReplaceSecret title={`Make a new ${called}`} name={owner} close={close} replace={async (request) => {
          const { webhookSecret } = await replace(request);
          close();
          setSecret({ text: webhookSecret, isNew: true });
          await changed();
        }} />
      )}
      {asks === "expire" && expire && (
        <Confirm title="End the older secrets?" act="End them" close={close} run={() => expire().then(changed)}>
          <p>Receivers that still verify with one of them refuse deliveries from the next attempt on.</p>
        </Confirm>
      )}
      {asks === "remove" && remove && (
        <Confirm title={`Remove the ${called}?`} act="Remove it" close={close} run={() => remove().then(changed)}>
          <p>
            From the next attempt on the tenant’s webhook secret signs again. A receiver that verifies with this one
            refuses deliveries.
          </p>
        </Confirm>
      )}
      {secret?.isNew === true && (
        <SecretDialog title={`The new ${called}`} secret={secret.text} done={hide}
          note="It signs from now on: give it to your receivers. This page shows it again when you ask." />
      )}
      {secret?.isNew === false && (
        <Dialog title={`The ${called}`} close={hide}>
          <p className={dialogStyles.secret}>
            <code>{secret.text}</code> <Copy text={secret.text} label="Copy the secret" />
          </p>
        </Dialog>
      )}
    </>
  );
}

/** The older secrets that sign, each with its end. */
function PreviousSecrets({ previous }: Pick<SigningSecrets, "previous">): ReactNode {
  if (previous.length === 0) return null;
  return (
    <Table
      stacked rows={previous} keyOf={({ fingerprint }) => fingerprint} caption={<strong>Older secrets</strong>}
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
function ReplaceSecret({ title, name, replace, close }: {
  readonly title: string;
  /** The name to type before receivers may refuse deliveries. */
  readonly name: string;
  readonly replace: (request: ReplaceRequest) => Promise<void>;
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
