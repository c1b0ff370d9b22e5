import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import styles from "./fact-rows.module.css";
import { factWords, type Fact } from "./fact-words.ts";
import { whoOf } from "./names.tsx";
import { Moment } from "./time.tsx";

/** An entry of a history or of the audit in words: its time, its author, and the act. */
export function FactLine({ fact, children }: {
  readonly fact: Fact;
  /** Stands behind the words, such as a link to the event that caused it. */
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <p className={styles.fact}>
      <Moment at={fact.time} /> <span><Actor actor={fact.actor} /> <Words text={factWords(fact)} />{children}</span>
    </p>
  );
}

const time = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** Times, and names, which stand in quotation marks. */
const special = /(\d{4}-\d\d-\d\dT[\d:.]+Z|“.*”)/s;

/** A text whose times show in the zone of the preferences, and whose names keep their direction to themselves. */
function Words({ text }: { readonly text: string }): ReactNode {
  return text.split(special).map((part, place) => {
    if (time.test(part)) return <Moment key={place} at={part} />;
    return <bdi key={place}>{part}</bdi>;
  });
}

function Actor({ actor }: { readonly actor: Schemas["Actor"] }): ReactNode {
  return <strong title={actor.id}><bdi>{whoOf(actor)}</bdi></strong>;
}
