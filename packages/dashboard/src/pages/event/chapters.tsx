import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { between, durationText } from "../../parts/duration.ts";
import { Moment } from "../../parts/time.tsx";
import { actorText } from "../../story/causes.ts";
import { chapterWords, type Chapter, type ChapterTone, type Telling } from "../../story/chapters.ts";
import { ends, keyOf } from "../../story/moments.ts";
import { MomentLink, EntryLink, Told } from "./words.tsx";

const glyphs: Readonly<Record<ChapterTone, string>> = {
  ok: "✓", bad: "✕", wait: "◔", info: "●", off: "—", act: "◆",
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
      <List className="chapters" chapters={chapters} telling={telling} attempt={attempt} />
      {later.length > 0 && (
        <>
          <h2 className="later">Later</h2>
          <List className="chapters dimmed" chapters={later} telling={laterTelling} attempt={undefined} />
        </>
      )}
    </section>
  );
}

function List({ className, chapters, telling, attempt }: {
  readonly className: string;
  readonly chapters: readonly Chapter[];
  readonly telling: Telling;
  readonly attempt: number | undefined;
}): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const { first, between, last } = isWhole ? { first: chapters, between: 0, last: [] } : ends(chapters);
  const row = (chapter: Chapter) =>
    <Row key={keyOf(chapter)} chapter={chapter} telling={telling} attempt={attempt} />;
  return (
    <ol className={className}>
      {first.map(row)}
      {between > 0 && (
        <li className="left-out">
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
    <li className="chapter" aria-current={isChosen ? "true" : undefined}>
      <span className={`glyph ${tone}`} aria-hidden="true">{glyphs[tone]}</span>
      <span className="when"><When chapter={chapter} /></span>
      <strong className="title">
        {number === undefined ? title
          : <Link to="." search={(search) => ({ ...search, attempt: String(number) })}>{title}</Link>}
      </strong>
      <span className="text"><Told words={text} /></span>
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
    <details className="entries" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{entries.length === 1 ? "1 entry" : `${entries.length} entries`}</summary>
      {isOpen && (
        <ul>
          {entries.map((entry) => (
            <li key={entry.position}>
              <MomentLink position={entry.position}><Moment at={entry.time} /></MomentLink>{" "}
              <EntryLink entry={entry}>{entry.type}</EntryLink>{" "}
              <span className="small">of the {entry.subject.type}, by {actorText(entry.actor, names)}</span>
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}
