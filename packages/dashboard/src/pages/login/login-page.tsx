import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { relay, whoIsSignedIn } from "../../api/relay.ts";
import { useGoToAddress } from "../../app/navigation.tsx";
import { onOtherTab, tellTabs } from "../../app/tabs.ts";
import { Field, Form } from "../../parts/form.tsx";
import { LonePage } from "../../parts/page.tsx";
import { canSignIn, NeedsTls } from "./needs-tls.tsx";
import { SeveralCookies } from "./several-cookies.tsx";

/** Signs a person in, then shows the page that they came for. */
export function LoginPage(): ReactNode {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const goToAddress = useGoToAddress();
  const { next = "", cookies } = useSearch({ from: "/login" });
  const enter = () => {
    queries.clear();
    if (isOwn(next)) goToAddress(next);
    else void navigate({ to: "/" });
  };
  const signIn = async ({ email = "", password = "" }: Readonly<Record<string, string>>) => {
    await relay.openSession({ email, password });
    tellTabs();
    enter();
  };
  useEffect(() => onOtherTab(() => void whoIsSignedIn().then(enter, () => undefined)));
  return (
    <LonePage title="Sign in">
      {cookies === "several" && <SeveralCookies />}
      {canSignIn() ? (
        <Form submit={signIn} label="Sign in" keeps guarded={false}>
          <Field name="email" label="Email">
            {(props) => <input {...props} type="email" autoComplete="username" required />}
          </Field>
          <Field name="password" label="Password">
            {(props) => <input {...props} type="password" autoComplete="current-password" required />}
          </Field>
        </Form>
      ) : <NeedsTls />}
    </LonePage>
  );
}

/** Whether an address is a page of ours: another site must not be where a sign-in leads. */
function isOwn(address: string): boolean {
  return address.startsWith("/") && !address.startsWith("//") && !address.includes("\\");
}
