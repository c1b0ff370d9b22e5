import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { Field } from "./form.tsx";

/** The kinds of authentication at a receiver. */
type AuthType = NonNullable<Schemas["Destination"]["authType"]>;

type CredentialName = keyof NonNullable<Schemas["CreateDestinationRequest"]["credentials"]>;

/** Of each kind its name, and its credentials: how each is called, and whether it is hidden while it is typed. */
const kinds: Readonly<Record<AuthType, {
  readonly title: string;
  readonly fields: readonly (readonly [name: CredentialName, label: string, secret: boolean])[];
}>> = {
  ApiKey: {
    title: "API key in a header", fields: [["headerName", "Header", false], ["value", "Key", true]],
  },
  BearerToken: { title: "Bearer token", fields: [["token", "Token", true]] },
  BasicAuth: { title: "User and password", fields: [["username", "User", false], ["password", "Password", true]] },
  JwtBearer: {
    title: "OAuth 2.0 client credentials",
    fields: [
      ["tokenEndpoint", "Token endpoint", false], ["clientId", "Client id", false], ["clientSecret", "Secret", true],
      ["scope", "Scope (may be empty)", false],
    ],
  },
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
      {fields.map(([name, label, secret]) => (
        <Field key={`${chosen}.${name}`} name={`credentials.${name}`} label={label}>
          {(props) => (
            <input
              {...props} type={secret ? "password" : "text"} autoComplete={secret ? "new-password" : "off"}
              placeholder={keeps ? "***" : ""}
            />
          )}
        </Field>
      ))}
    </>
  );
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
  const given = typed.filter(([, value]) => authType === "BasicAuth" || value !== "");
  return { authType, credentials: Object.fromEntries(given) };
}

function isKind(text: string): text is AuthType {
  return Object.hasOwn(kinds, text);
}
