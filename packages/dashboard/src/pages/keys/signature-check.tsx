import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay, useMe } from "../../app/session.ts";
import { Field, Form } from "../../parts/form.tsx";
import { NoRight } from "../../parts/states.tsx";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import styles from "./keys.module.css";

/** Says whether a signature is that of a payload under the tenant's present webhook secret. */
export function SignatureCheck(): ReactNode {
  const { tenant: { id } } = useMe();
  const may = useMay();
  const [valid, setValid] = useState<boolean>();
  if (!may("verifySignature")) return <NoRight>Developers, Admins and Owners check signatures.</NoRight>;
  const check = async (fields: Readonly<Record<string, string>>) => {
    setValid(undefined);
    setValid(await isValidSignature(id, fields));
  };
  return (
    <section aria-label="Signature check" className={classes(shared.section, styles.check)}>
      <p className={shared.small}>Paste what your receiver got: the body byte for byte, and the header beside it.</p>
      <Form submit={check} label="Check the signature" keeps guarded={false}>
        <Field name="payload" label="Payload" hint="The raw body, before any parser.">
          {(props) => <textarea {...props} spellCheck={false} />}
        </Field>
        <Field name="signature" label="X-Service-Signature" hint={<>It begins with <code>sha256=</code>.</>}>
          {(props) => <input {...props} className={shared.mono} required spellCheck={false} autoComplete="off" />}
        </Field>
      </Form>
      <div role="status">
        {valid === true && (
          <p className={shared.ok}>✓ Valid: the relay signed exactly this payload with the present webhook secret.</p>
        )}
        {valid === false && (
          <p className={shared.bad}>
            ✕ Not valid: the payload is not what was signed (a space or a line end is enough), or it was signed with
            another secret, such as the one before the last change.
          </p>
        )}
      </div>
    </section>
  );
}

/** Asks the relay whether the signature in a form's fields is that of the payload in them. */
export async function isValidSignature(
  tenantId: string, { payload = "", signature = "" }: Readonly<Record<string, string>>,
): Promise<boolean> {
  // A form turns the line ends of a pasted text into CR LF.
  const body = { payload: payload.replaceAll("\r\n", "\n"), signature: signature.trim() };
  return (await relay.verifySignature({ id: tenantId }, body)).valid;
}
