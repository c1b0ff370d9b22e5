import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef, type ReactNode } from "react";
import { relay } from "../api/relay.ts";
import { EventTypesField } from "../pages/subscriptions/event-types-field.tsx";
import { SenderChoice } from "../pages/subscriptions/sender-choice.tsx";
import { typesIn } from "../pages/subscriptions/subscription-form.tsx";
import { Dialog } from "../parts/dialog.tsx";
import type { Fields } from "../parts/fields.ts";
import { Field, Form } from "../parts/form.tsx";

/** The requests that a customer's new destination takes at the same time, until someone changes its settings. */
const serverRateLimit = 5;

/** Creates a destination of the customer and its subscription, and leads to its page. */
export function NewDestination({ close }: { readonly close: () => void }): ReactNode {
  const queries = useQueryClient();
  const navigate = useNavigate();
  /** The destination of an earlier try, which the relay did not subscribe. */
  const created = useRef<string>(undefined);
  const create = async ({ url = "", name = "", senderId = "", eventTypes = "" }: Fields) => {
    const settings = { url, ...(name !== "" && { name }) };
    if (created.current === undefined) {
      created.current = (await relay.createDestination({ ...settings, serverRateLimit })).id;
    } else {
      await relay.updateDestination({ id: created.current }, settings);
    }
    const destinationUrlId = created.current;
    await relay.createSubscription({ senderId, destinationUrlId, eventTypes: typesIn(eventTypes) });
    await queries.invalidateQueries({ queryKey: ["listDestinations"] });
    await navigate({ to: "/destinations/$id", params: { id: destinationUrlId }, search: { tab: "subscriptions" } });
  };
  return (
    <Dialog title="New destination" close={close}>
      <Form submit={create} label="Create destination" keeps cancel={close}>
        <Field name="url" label="URL" hint="Your address for these events, by HTTPS.">
          {(control) => <input {...control} inputMode="url" autoComplete="off" />}
        </Field>
        <Field name="name" label="Name (optional)">
          {(control) => <input {...control} autoComplete="off" />}
        </Field>
        <SenderChoice />
        <EventTypesField />
      </Form>
    </Dialog>
  );
}
