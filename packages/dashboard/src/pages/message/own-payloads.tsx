import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { JsonText } from "../../parts/json-text.tsx";
import { useTargets } from "../../parts/names.tsx";
import styles from "./message.module.css";

/** The payloads that subscriptions made of the message, each beside the message's own when it is opened. */
export function OwnPayloads({ message, stories }: {
  readonly message: Schemas["Message"]; readonly stories: ReadonlyMap<string, Schemas["Story"]>;
}): ReactNode {
  const { nameOf } = useTargets();
  const own = [...stories.values()].filter(({ event }) => event.payload !== message.payload);
  return own.map(({ event: { id, destinationUrlId, payload } }) => (
    <Opened key={id} title={<>Mapped for <bdi>{nameOf(destinationUrlId)}</bdi></>}>
      <JsonText
        text={payload} label={`Payload for ${nameOf(destinationUrlId)}`}
        before={{ text: message.payload, label: "the message's payload" }}
      />
    </Opened>
  ));
}

/** Content that is made when a person opens it. */
function Opened({ title, children }: { readonly title: ReactNode; readonly children: ReactNode }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className={styles.own} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && children}
    </details>
  );
}
