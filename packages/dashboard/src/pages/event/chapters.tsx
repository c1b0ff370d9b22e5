import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { Icon, icons, type IconPath } from "../../parts/icon.tsx";
import { Moment } from "../../parts/time.tsx";
import { between, durationText } from "../../parts/times.ts";
import { actorText } from "../../story/causes.ts";
import { chapterWords, type Chapter, type ChapterTone, type Telling } from "../../story/chapters.ts";
import { ends, keyOf } from "../../story/moments.ts";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import styles from "./event.module.css";
import { toneClass } from "./marks.tsx";
import { MomentLink, EntryLink, Told } from "./words.tsx";

const glyphs: Readonly<Record<ChapterTone, IconPath>> = {
  ok: icons.check, bad: icons.x, wait: icons.clock, info: icons.circle, off: icons.minus, act: icons.diamond,
};

/** The chapters in the order of the log; those after the chosen moment are dimmed. */
export function Chapters({ chapters, later, telling, laterTelling, attempt }: {
  readonly chapters: readonly Chapter[];
  readonly later: readonly Chapter[];
  readonly telling: Telling;
  readonly laterTelling: Telling;
  /** The number of the attempt that is shown below. */
  readonly attempt: number | undefined;
}): ReactNode {
  return (
    <section aria-label="Chapters">
      <List chapters={chapters} telling={telling} attempt={attempt} />
      {later.length > 0 && (
        <>
          <h2 className={styles.later}>Later</h2>
          <List isDimmed chapters={later} telling={laterTelling} attempt={undefined} />
        </>
      )}
    </section>
  );
}

function List({ isDimmed = false, chapters, telling, attempt }: {
  readonly isDimmed?: boolean;
  readonly chapters: readonly Chapter[];
  readonly telling: Telling;
  readonly attempt: number | undefined;
}): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const { first, between, last } = isWhole ? { first: chapters, between: 0, last: [] } : ends(chapters);
  const row = (chapter: Chapter) =>
    <Row key={keyOf(chapter)} chapter={chapter} telling={telling} attempt={attempt} />;
  return (
    <ol className={classes(styles.chapters, isDimmed && styles.dimmed)}>
      {first.map(row)}
      {between > 0 && (
        <li className={styles.leftOut}>
          <button type="button" onClick={() => setWhole(true)}>Show {between} chapters between</button>
        </li>
      )}
      {last.map(row)}
    </ol>
  );
}

function Row({ chapter, telling, attempt }: {
  readonly chapter: Chapter; readonly telling: Telling; readonly attempt: number | undefined;
}): ReactNode {
  const { title, tone, text, attempt: number } = chapterWords(chapter, telling);
  const isChosen = number !== undefined && number === attempt;
  return (
    <li className={styles.chapter} aria-current={isChosen ? "true" : undefined}>
      <span className={classes(styles.glyph, toneClass(tone))}><Icon of={glyphs[tone]} size={14} /></span>
      <span className={styles.when}><When chapter={chapter} /></span>
      <strong className={styles.title}>
        {number === undefined ? title
          : <Link to="." search={(search) => ({ ...search, attempt: String(number) })}>{title}</Link>}
      </strong>
      <span className={styles.text}><Told words={text} /></span>
      {chapter.entries.length > 0 && <Entries chapter={chapter} names={telling.names} />}
    </li>
  );
}

function When({ chapter: { kind, from, to, entries } }: { readonly chapter: Chapter }): ReactNode {
  if (kind === "wait") return to === null ? "…" : `+${durationText(Math.max(0, between(from, to)))}`;
  const [first] = entries;
  const time = <Moment at={from} only="time" />;
  return first ? <MomentLink position={first.position}>{time}</MomentLink> : time;
}

/** The entries of a chapter; their links are made when they are asked for. */
function Entries({ chapter: { entries }, names }: {
  readonly chapter: Chapter; readonly names: Telling["names"];
}): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className={styles.entries} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{entries.length === 1 ? "1 entry" : `${entries.length} entries`}</summary>
      {isOpen && (
        <ul>
          {entries.map((entry) => (
            <li key={entry.position}>
              <MomentLink position={entry.position}><Moment at={entry.time} /></MomentLink>{" "}
              <EntryLink entry={entry}>{entry.type}</EntryLink>{" "}
              <span className={shared.small}>of the {entry.subject.type}, by {actorText(entry.actor, names)}</span>
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}
