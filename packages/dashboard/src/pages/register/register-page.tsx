import { Link, useNavigate } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useFragment } from "../../app/navigation.tsx";
import { useSignIn } from "../../app/session.ts";
import { Field, Form } from "../../parts/form.tsx";
import { LonePage } from "../../parts/page.tsx";
import shared from "../../style/shared.module.css";
import { canSignIn, NeedsTls } from "../login/needs-tls.tsx";

/** Makes a user of somebody who was invited; the invite's token is in the fragment of the address. */
export function RegisterPage(): ReactNode {
  return (
    <LonePage title="Accept your invite">{canSignIn() ? <Registration /> : <NeedsTls />}</LonePage>
  );
}

function Registration(): ReactNode {
  const token = new URLSearchParams(useFragment()).get("token");
  const signIn = useSignIn();
  const navigate = useNavigate();
  const [user, setUser] = useState<Schemas["User"]>();
  if (user) return <Registered user={user} />;
  if (token === null || token === "") {
    return (
      <div className={shared.state}>
        <p>Open the link of your invite once more: this address has no token in it.</p>
      </div>
    );
  }
  const submit = async ({ password = "", again }: Readonly<Record<string, string>>) => {
    if (password !== again) throw new Error("The two passwords differ.");
    const registered = await relay.register({ token }, { password });
    try {
      await signIn({ email: registered.email ?? "", password });
      await navigate({ to: "/" });
    } catch {
      setUser(registered);
    }
  };
  return (
    <Form submit={submit} label="Set the password" keeps guarded={false}>
      <Field name="password" label="Password" hint="8 to 72 bytes.">
        {(props) => <input {...props} type="password" autoComplete="new-password" required />}
      </Field>
      <Field name="again" label="The same again">
        {(props) => <input {...props} type="password" autoComplete="new-password" required />}
      </Field>
    </Form>
  );
}

function Registered({ user: { email, role } }: { readonly user: Schemas["User"] }): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.focus(), []);
  return (
    <div className={shared.state} ref={place} tabIndex={-1}>
      <p>Your password is set. You are <strong>{email}</strong>, with the role {role}.</p>
      <p><Link to="/login" className={shared.button}>Sign in</Link></p>
    </div>
  );
}
