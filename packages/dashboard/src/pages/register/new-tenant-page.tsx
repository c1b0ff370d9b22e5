import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useSignIn } from "../../app/session.ts";
import { Field, Form } from "../../parts/form.tsx";
import { LonePage } from "../../parts/page.tsx";
import shared from "../../style/shared.module.css";
import { canSignIn, NeedsTls } from "../login/needs-tls.tsx";

/** Creates a tenant and its Owner, signs the Owner in, and begins the first steps. */
export function NewTenantPage(): ReactNode {
  const navigate = useNavigate();
  const signIn = useSignIn();
  const submit = async (
    { name = "", ownerEmail = "", ownerPassword = "" }: Readonly<Record<string, string>>,
  ) => {
    await relay.createTenant({ name, ownerEmail, ownerPassword });
    await signIn({ email: ownerEmail, password: ownerPassword });
    await navigate({ to: "/start" });
  };
  return (
    <LonePage title="Create a tenant">
      {canSignIn() ? (
        <Form submit={submit} label="Create the tenant" keeps guarded={false}>
          <Field name="name" label="Name of the tenant" hint="For example that of your company or product.">
            {(props) => <input {...props} autoComplete="organization" required />}
          </Field>
          <Field name="ownerEmail" label="Your email">
            {(props) => <input {...props} type="email" autoComplete="username" required />}
          </Field>
          <Field name="ownerPassword" label="Password" hint="At least 8 characters.">
            {(props) => <input {...props} type="password" autoComplete="new-password" required />}
          </Field>
        </Form>
      ) : <NeedsTls />}
      <p className={shared.small}>Have an account? <Link to="/login">Sign in</Link></p>
    </LonePage>
  );
}
