import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { pagesPath } from "../../api/relay.ts";
import { whoIsSignedIn } from "../../api/who.ts";
import { useGoToAddress } from "../../app/navigation.tsx";
import { useSignIn } from "../../app/session.ts";
import { onOtherTab } from "../../app/tabs.ts";
import { Field, Form } from "../../parts/form.tsx";
import { LonePage } from "../../parts/page.tsx";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import { canSignIn, NeedsTls } from "./needs-tls.tsx";

/** Signs a person in, then shows the page that they came for. */
export function LoginPage(): ReactNode {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const goToAddress = useGoToAddress();
  const signIn = useSignIn();
  const { next = "", cookies } = useSearch({ from: "/login" });
  const enter = () => {
    if (isOwn(next)) goToAddress(next);
    else void navigate({ to: "/" });
  };
  const submit = async ({ email = "", password = "" }: Readonly<Record<string, string>>) => {
    await signIn({ email, password });
    enter();
  };
  const follow = () => {
    queries.clear();
    enter();
  };
  useEffect(() => onOtherTab(() => void whoIsSignedIn().then(follow, () => undefined)));
  return (
    <LonePage title="Sign in">
      {cookies === "several" && <SeveralCookies />}
      {canSignIn() ? (
        <Form submit={submit} label="Sign in" keeps guarded={false}>
          <Field name="email" label="Email">
            {(props) => <input {...props} type="email" autoComplete="username" required />}
          </Field>
          <Field name="password" label="Password">
            {(props) => <input {...props} type="password" autoComplete="current-password" required />}
          </Field>
        </Form>
      ) : <NeedsTls />}
      <p className={shared.small}>No account yet? <Link to="/new">Create a tenant</Link></p>
    </LonePage>
  );
}

/** Whether an address is one of these pages: a sign-in must not lead to another site. */
function isOwn(address: string): boolean {
  return address.startsWith("/") && !address.startsWith("//") && !address.includes("\\");
}

/** Names of one's own machine, each with another: cookies of one are not sent to the other. */
const otherNames: Readonly<Record<string, string>> = { localhost: "127.0.0.1", "127.0.0.1": "localhost" };

/** Says that another program has set a session cookie for this host, and how to get rid of it. */
function SeveralCookies(): ReactNode {
  const { hostname, host, protocol } = location;
  const other = otherNames[hostname];
  return (
    <div className={classes(shared.state, shared.bad)} role="alert">
      <p><strong>Another program at <code>{hostname}</code> has set a session cookie of its own.</strong></p>
      <p>
        Programs at one host share their cookies, whatever their ports. The relay cannot tell which cookie is yours, so
        it takes none, and signs nobody in.
      </p>
      <p>
        Remove the cookies of <code>{hostname}</code>: open the site information beside the address, then cookies and
        site data. Then sign in again.
      </p>
      {other !== undefined && (
        <p>Or open the relay as <code>{`${protocol}//${host.replace(hostname, other)}${pagesPath}/`}</code>.</p>
      )}
    </div>
  );
}
