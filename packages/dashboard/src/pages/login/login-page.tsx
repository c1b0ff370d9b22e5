import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { relay, relayAddress } from "../../api/relay.ts";
import { useGo, useGoToAddress, useSearch } from "../../app/navigation.tsx";
import { Field, Form } from "../../parts/form.tsx";
import { Page } from "../../parts/page.tsx";

/** Signs a person in, then shows the page that they came for. */
export function LoginPage(): ReactNode {
  const queries = useQueryClient();
  const go = useGo();
  const goToAddress = useGoToAddress();
  const [{ next = "" }] = useSearch();
  const signIn = async ({ email = "", password = "" }: Readonly<Record<string, string>>) => {
    await relay.openSession({ email, password });
    queries.clear();
    if (isOwn(next)) goToAddress(next);
    else go("/");
  };
  return (
    <main className="alone">
      <Page title="Sign in">
        {canSignIn() ? (
          <Form submit={signIn} label="Sign in" keeps>
            <Field name="email" label="Email">
              {(props) => <input {...props} type="email" autoComplete="username" required />}
            </Field>
            <Field name="password" label="Password">
              {(props) => <input {...props} type="password" autoComplete="current-password" required />}
            </Field>
          </Form>
        ) : <NeedsTls />}
      </Page>
    </main>
  );
}

/** Whether an address is a page of ours: another site must not be where a sign-in leads. */
function isOwn(address: string): boolean {
  return address.startsWith("/") && !address.startsWith("//") && !address.includes("\\");
}

/** Browsers drop the session's cookie on plain HTTP, except at localhost. */
function canSignIn(): boolean {
  return location.protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
}

function NeedsTls(): ReactNode {
  const { hostname, port } = new URL(relayAddress);
  const far = port === "" ? "80" : port;
  return (
    <div className="state">
      <p>Signing in here needs TLS: over plain HTTP everybody on the way could read the password.</p>
      <p>Open the relay by <code>https:</code>, or through a tunnel to your own machine:</p>
      <pre><code>{`ssh -L 8080:localhost:${far} ${hostname}`}</code></pre>
      <p>Then open <code>http://localhost:8080/app/</code>.</p>
    </div>
  );
}
