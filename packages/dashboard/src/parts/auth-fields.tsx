import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { Field, type ControlProps } from "./form.tsx";
import { pairsIn } from "./pairs.ts";

/** The kinds of authentication at a receiver. */
type AuthType = NonNullable<Schemas["Destination"]["authType"]>;

type Credentials = NonNullable<Schemas["CreateDestinationRequest"]["credentials"]>;

/** How a credential is typed: `pairs` are lines, `proof` is a choice. */
type Control = "text" | "password" | "pairs" | "proof";

/** Of each kind its name, and its credentials. */
const kinds: Readonly<Record<AuthType, {
  readonly title: string;
  readonly fields: readonly (readonly [name: keyof Credentials, label: string, control: Control, hint?: string])[];
}>> = {
  ApiKey: {
    title: "API key in a header", fields: [["headerName", "Header", "text"], ["value", "Key", "password"]],
  },
  BearerToken: { title: "Bearer token", fields: [["token", "Token", "password"]] },
  BasicAuth: {
    title: "User and password", fields: [["username", "User", "text"], ["password", "Password", "password"]],
  },
  JwtBearer: {
    title: "OAuth 2.0 client credentials",
    fields: [
      ["tokenEndpoint", "Token endpoint", "text"], ["clientId", "Client id", "text"],
      ["clientSecret", "Secret", "password"], ["scope", "Scope (optional)", "text"],
      ["audience", "Audience (optional)", "text"],
      ["resource", "Resource (optional)", "text", "The URI of the receiver, by RFC 8707."],
      ["extraParameters", "Further parameters (optional)", "pairs", "A pair a line, such as tenant: acme. 10 at most."],
      ["clientAuthentication", "Client authentication", "proof"],
    ],
  },
};

const proofs: Readonly<Record<string, string>> = {
  "": "by HTTP Basic, or else in the form", basic: "by HTTP Basic alone", form: "in the form alone",
};

/** The name of a kind of authentication for people. */
export function authTitle(authType: AuthType | undefined): string {
  return authType === undefined ? "None" : kinds[authType].title;
}

/** Fields of a form for authentication. Stored credentials are never shown; empty fields keep them. */
export function AuthFields({ stored }: { readonly stored?: AuthType | undefined }): ReactNode {
  const [chosen, choose] = useState<string>(stored ?? "");
  const keeps = chosen === stored;
  const fields = isKind(chosen) ? kinds[chosen].fields : [];
  return (
    <>
      <Field
        name="authType" label="Authentication"
        hint={keeps ? "Credentials are never shown. Leave all of them empty to keep them." : undefined}
      >
        {(props) => (
          <select {...props} defaultValue={stored ?? ""} onChange={({ target }) => choose(target.value)}>
            <option value="">None</option>
            {Object.entries(kinds).map(([kind, { title }]) => <option key={kind} value={kind}>{title}</option>)}
          </select>
        )}
      </Field>
      {fields.map(([name, label, control, hint]) => (
        <Field key={`${chosen}.${name}`} name={`credentials.${name}`} label={label} hint={hint}>
          {(props) => <Credential control={control} props={props} placeholder={keeps ? "***" : ""} />}
        </Field>
      ))}
    </>
  );
}

function Credential({ control, props, placeholder }: {
  readonly control: Control; readonly props: ControlProps; readonly placeholder: string;
}): ReactNode {
  if (control === "pairs") return <textarea {...props} rows={2} spellCheck={false} placeholder={placeholder} />;
  if (control === "proof") {
    return (
      <select {...props}>
        {Object.entries(proofs).map(([proof, words]) => <option key={proof} value={proof}>{words}</option>)}
      </select>
    );
  }
  const autoComplete = control === "password" ? "new-password" : "off";
  return <input {...props} type={control} autoComplete={autoComplete} placeholder={placeholder} />;
}

/** The part of a request that sets the typed authentication, or removes the stored one; empty if nothing changes. */
export function authOf(
  fields: Readonly<Record<string, string>>, stored?: AuthType,
): Pick<Schemas["UpdateDestinationRequest"], "authType" | "credentials" | "removeAuth"> {
  const { authType = "" } = fields;
  if (!isKind(authType)) return stored === undefined ? {} : { removeAuth: true };
  const typed = kinds[authType].fields.map(([name]) => [name, fields[`credentials.${name}`] ?? ""] as const);
  const isEmpty = typed.every(([, value]) => value === "");
  if (isEmpty && authType === stored) return {};
  // Only a user and a password may be empty.
  const given = typed.filter(([, value]) => authType === "BasicAuth" || value !== "")
    .map(([name, value]) => [name, name === "extraParameters" ? pairsIn(value) : value]);
  return { authType, credentials: Object.fromEntries(given) as Credentials };
}

function isKind(text: string): text is AuthType {
  return Object.hasOwn(kinds, text);
}
