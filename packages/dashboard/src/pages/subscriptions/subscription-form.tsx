import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { isPortal, relay } from "../../api/relay.ts";
import { DestinationChoice } from "../../parts/destinations.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import type { Fields } from "../../parts/fields.ts";
import { Field, Form } from "../../parts/form.tsx";
import { linesIn } from "../../parts/pairs.ts";
import { EventTypesField } from "./event-types-field.tsx";
import { SenderChoice } from "./sender-choice.tsx";

type Subscription = Schemas["Subscription"];
type Match = Pick<Subscription, "eventTypes" | "filter" | "mapping">;

interface Closing {
  readonly close: () => void;
  readonly changed: () => Promise<unknown>;
}

/** The common part of subscriptions: their sender, or their destination. */
export type Shared = { readonly senderId: string } | { readonly destinationUrlId: string };

/** Asks for a new subscription to a sender, or of a destination. In the portal its owner is the customer. */
export function NewSubscription({ of, close, changed }: Closing & { readonly of: Shared }): ReactNode {
  const create = async (fields: Fields) => {
    const { senderId = "", destinationUrlId = "", ownerId = "" }: Fields = { ...fields, ...of };
    await relay.createSubscription({
      senderId, destinationUrlId, ...(ownerId !== "" && { ownerId }), ...matchIn(fields),
    });
    close();
    await changed();
  };
  return (
    <Dialog title="New subscription" close={close}>
      <Form submit={create} label="Subscribe" cancel={close} keeps>
        {"senderId" in of ? (
          <Field name="destinationUrlId" label="Destination">
            {(control) => <DestinationChoice control={control} />}
          </Field>
        ) : <SenderChoice />}
        {!isPortal && (
          <Field
            name="ownerId" label="Owner (optional)"
            hint="Only messages of this owner of yours match. Empty: messages of every owner, and of none."
          >
            {(control) => <input {...control} autoComplete="off" />}
          </Field>
        )}
        <MatchFields senderId={"senderId" in of ? of.senderId : undefined} />
      </Form>
    </Dialog>
  );
}

/** Changes the conditions and the mapping of a subscription. Its destination and its owner never change. */
export function ChangeSubscription({ of, close, changed }: Closing & { readonly of: Subscription }): ReactNode {
  const { id, senderId, eventTypes, filter, mapping, updatedAt } = of;
  const values = {
    eventTypes: eventTypes?.join("\n") ?? "", filter: filter ? JSON.stringify(filter, null, 2) : "",
    "mapping.expression": mapping?.expression ?? "",
  };
  const save = async (fields: Fields) => {
    await relay.updateSubscription({ id }, matchIn(fields));
    close();
    await changed();
  };
  return (
    <Dialog title="Change the subscription" close={close}>
      <Form submit={save} label="Save" cancel={close} keeps of={{ values, updatedAt }}>
        <MatchFields senderId={senderId} />
      </Form>
    </Dialog>
  );
}

function MatchFields({ senderId }: { readonly senderId: string | undefined }): ReactNode {
  return (
    <>
      <EventTypesField senderId={senderId} />
      <Field
        name="filter" label="Filter (optional), JSON"
        hint={'Conditions on type, ownerId, tags and data, such as {"data": {"amount": {"$gte": 100}}}.'}
      >
        {(control) => <textarea {...control} rows={4} spellCheck={false} />}
      </Field>
      <Field
        name="mapping.expression" label="Mapping (optional), JMESPath"
        hint="Makes the payload for this destination. Empty: it gets the data of the message unchanged."
      >
        {(control) => <textarea {...control} rows={2} spellCheck={false} />}
      </Field>
    </>
  );
}

/** The conditions and the mapping of a submission; empty texts are null. Throws for a filter that is no JSON object. */
function matchIn({ eventTypes = "", filter = "", "mapping.expression": expression = "" }: Fields): Match {
  return {
    eventTypes: typesIn(eventTypes),
    filter: filter.trim() === "" ? null : filterIn(filter),
    mapping: expression.trim() === "" ? null : { language: "jmespath", expression },
  };
}

/** The event types of a text, one a line; null for none, which means all. */
export function typesIn(text: string): Match["eventTypes"] {
  const types = linesIn(text);
  return types.length === 0 ? null : types;
}

function filterIn(text: string): NonNullable<Subscription["filter"]> {
  let filter: unknown;
  try {
    filter = JSON.parse(text);
  } catch (error) {
    throw new Error(`The filter is not JSON: ${error instanceof Error ? error.message : ""}`, { cause: error });
  }
  if (typeof filter !== "object" || filter === null || Array.isArray(filter)) {
    throw new Error("The filter must be a JSON object.");
  }
  return filter as NonNullable<Subscription["filter"]>;
}
