import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { useMay } from "../../app/session.ts";
import { Field, Form } from "../../parts/form.tsx";
import { NoRight } from "../../parts/states.tsx";
import shared from "../../style/shared.module.css";
import { isValidSignature } from "../keys/signature-check.tsx";
import { rememberVerified } from "./verified.ts";

/** The last step: the relay says whether the signature that a receiver got is that of the body. */
export function SignatureStep({ tenantId, verified, done }: {
  readonly tenantId: string; readonly verified: boolean; readonly done: () => void;
}): ReactNode {
  const [wrong, setWrong] = useState(false);
  const allows = useMay();
  const verify = async (fields: Readonly<Record<string, string>>) => {
    const valid = await isValidSignature(tenantId, fields);
    setWrong(!valid);
    if (!valid) return;
    rememberVerified(tenantId);
    done();
  };
  if (verified) {
    return <p>Verified in this browser. <Link to="/keys">Webhook secret and signatures</Link></p>;
  }
  if (!allows("verifySignature")) return <NoRight>Developers and above check signatures.</NoRight>;
  return (
    <>
      <p>Paste what the receiver got. Its own code has to make the same check with the webhook secret.</p>
      <Form submit={verify} label="Verify" keeps guarded={false}>
        <Field name="payload" label="Body" hint="Exactly as it came: a space more is another body.">
          {(props) => <textarea {...props} rows={4} spellCheck={false} />}
        </Field>
        <Field name="signature" label="X-Service-Signature" hint="The value of the header: sha256=…">
          {(props) => <input {...props} autoComplete="off" spellCheck={false} />}
        </Field>
      </Form>
      {wrong && (
        <p className={shared.problem} role="alert">
          It is not the signature of this body. Compare the bytes, and see whether the secret was replaced since.
        </p>
      )}
    </>
  );
}
