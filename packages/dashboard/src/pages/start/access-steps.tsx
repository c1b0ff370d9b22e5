import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { Field, Form } from "../../parts/form.tsx";
import { Confirm, SecretDialog } from "../../parts/questions.tsx";
import { NoRight } from "../../parts/states.tsx";
import shared from "../../style/shared.module.css";
import type { Access } from "./curl.tsx";

interface Props {
  /** Takes the secrets that later steps need. They are kept until the page is left. */
  readonly gain: (access: Access) => void;
  /** Whether that is known now. */
  readonly known: boolean;
}

/** The first step: an active destination, and its ingest token. */
export function DestinationStep({ destination, hasAny, gain, known }: Props & {
  readonly destination: Schemas["Destination"] | undefined;
  /** Whether there are destinations, in whatever state. */
  readonly hasAny: boolean;
}): ReactNode {
  const queries = useQueryClient();
  const allows = useMay();
  const [token, setToken] = useState("");
  const [asks, setAsks] = useState(false);
  const take = (destinationId: string, ingestToken: string) => {
    gain({ ingest: { destinationId, token: ingestToken } });
    setToken(ingestToken);
  };
  const create = async ({ url = "" }: Readonly<Record<string, string>>) => {
    const { id, ingestToken } = await relay.createDestination({ url });
    take(id, ingestToken);
    await queries.invalidateQueries();
  };
  return (
    <>
      {destination && (
        <p>
          Events are sent to{" "}
          <Link to="/destinations/$id" params={{ id: destination.id }}>{destination.name ?? destination.url}</Link>
        </p>
      )}
      {!destination && hasAny && (
        <p>No destination is active. <Link to="/destinations">See why</Link>, or create another one.</p>
      )}
      {!destination && allows("createDestination") && (
        <Form submit={create} label="Create the destination">
          <Field name="url" label="URL of the receiver" hint="HTTPS. The relay posts events there.">
            {(props) => <input {...props} autoComplete="off" inputMode="url" placeholder="https://" />}
          </Field>
        </Form>
      )}
      {!destination && !allows("createDestination") && <NoRight>Developers and above create destinations.</NoRight>}
      {destination && !known && allows("regenerateDestinationToken") && (
        <p className={shared.acts}>
          <span>Its ingest token is no longer known here.</span>
          <button type="button" onClick={() => setAsks(true)}>New ingest token…</button>
        </p>
      )}
      {asks && destination && (
        <Confirm
          title="A new ingest token" act="Replace it" close={() => setAsks(false)}
          run={async () => {
            const { id } = destination;
            take(id, (await relay.regenerateDestinationToken({ id })).ingestToken);
          }}
        >
          <p>Producers that post with the present token of this destination get 404 from then on.</p>
        </Confirm>
      )}
      {token !== "" && !asks && <SecretDialog title="The ingest token" secret={token} done={() => setToken("")} />}
    </>
  );
}

/** The second step: an API key for ingest. */
export function KeyStep({ has, gain, known }: Props & { readonly has: boolean }): ReactNode {
  const queries = useQueryClient();
  const allows = useMay();
  const [key, setKey] = useState("");
  const create = async ({ name = "" }: Readonly<Record<string, string>>) => {
    const { apiKey } = await relay.createApiKey({ name });
    gain({ key: apiKey });
    setKey(apiKey);
    await queries.invalidateQueries();
  };
  const form = (
    <Form submit={create} label="Create the key">
      <Field name="name" label="Name of the key" hint="For example that of the program that posts.">
        {(props) => <input {...props} autoComplete="off" />}
      </Field>
    </Form>
  );
  return (
    <>
      {has && <p>There is one. <Link to="/keys">All keys</Link></p>}
      {!known && allows("createApiKey") && (has ? (
        <details>
          <summary>Create another key</summary>
          {form}
        </details>
      ) : form)}
      {!has && !allows("createApiKey") && <NoRight>Developers and above create keys.</NoRight>}
      {key !== "" && <SecretDialog title="The API key" secret={key} done={() => setKey("")} />}
    </>
  );
}
