import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { MiddleCut } from "./copy.tsx";
import styles from "./fact-rows.module.css";
import { factWords, type Fact } from "./fact-words.ts";
import { whoOf } from "./names.tsx";
import { Ago, Moment } from "./time.tsx";

/** An entry of a history or of the audit in words: its age, its author, and the act. */
export function FactLine({ fact, children }: {
  readonly fact: Fact;
  /** Stands behind the words, such as a link to the event that caused it. */
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <p className={styles.fact}>
      <span className={styles.age}><Ago to={fact.time} /></span>{" "}
      <span className={styles.words}><Actor actor={fact.actor} /> <Words text={factWords(fact)} />{children}</span>
    </p>
  );
}

const time = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** Times, URLs, and names, which stand in quotation marks. */
const special = /(\d{4}-\d\d-\d\dT[\d:.]+Z|https:\/\/[^\s,]+|“.*”)/s;
/** Longer URLs and names are cut. */
const longest = 60;

/**
 * A text whose times show in the zone of the preferences, and whose names keep their direction to themselves. Long URLs
 * and names are cut in the middle.
 */
export function Words({ text }: { readonly text: string }): ReactNode {
  return text.split(special).map((part, place) => {
    if (time.test(part)) return <Moment key={place} at={part} />;
    if (place % 2 === 1 && part.length > longest) {
      return <span key={place} className={styles.long}><MiddleCut text={part} /></span>;
    }
    return <bdi key={place}>{part}</bdi>;
  });
}

function Actor({ actor }: { readonly actor: Schemas["Actor"] }): ReactNode {
  return <strong title={actor.id}><bdi>{whoOf(actor)}</bdi></strong>;
}
