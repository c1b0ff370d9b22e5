import { memo, type ReactNode } from "react";
import { between, durationText } from "../../parts/times.ts";
import { chapterWords, type Chapter, type ChapterTone, type Telling } from "../../story/chapters.ts";
import { ends, keyOf } from "../../story/moments.ts";
import shared from "../../style/shared.module.css";
import styles from "./event.module.css";

const height = 24;
const middle = height / 2;

/** The width of the dots in place of the chapters between. */
const gap = 36;

/**
 * The story as a line: attempts as blocks, waits as lines, acts as diamonds. Long waits are cut: widths grow with the
 * logarithm of the time. Of a long story only the ends are drawn. The chapters below say the same in words.
 */
export const Bar = memo(function Bar({ chapters, later, telling }: {
  readonly chapters: readonly Chapter[];
  /** Those that came after the chosen moment. */
  readonly later: readonly Chapter[];
  readonly telling: Telling;
}): ReactNode {
  const all = [...chapters, ...later];
  const { first, between, last } = ends(all);
  const dimmed = new Set(later.map(keyOf));
  let x = 0;
  const placed = (chapter: Chapter) => {
    const width = widthOf(chapter);
    const part = { chapter, key: keyOf(chapter), from: x, width, words: chapterWords(chapter, telling) };
    x += width + 2;
    return part;
  };
  const begin = first.map(placed);
  const middleOf = x + gap / 2;
  if (between > 0) x += gap;
  const parts = [...begin, ...last.map(placed)];
  const label = `${all.length} chapters in a line; the list below tells them`;
  return (
    <svg
      className={styles.barOfStory} viewBox={`0 0 ${Math.max(x, 1)} ${height}`} preserveAspectRatio="xMinYMid meet"
      role="img" aria-label={label}
    >
      {parts.map(({ chapter, key, from, width, words: { tone, title } }) => (
        <g key={key} className={toneClass(tone)} opacity={dimmed.has(key) ? 0.35 : 1}>
          <title>{`${title}, ${lengthText(chapter)}`}</title>
          <Shape kind={chapter.kind} from={from} width={width} />
        </g>
      ))}
      {between > 0 && (
        <g className={shared.off}>
          <title>{`${between} chapters between`}</title>
          {[-8, 0, 8].map((by) => <circle key={by} cx={middleOf + by} cy={middle} r={2} fill="currentColor" />)}
        </g>
      )}
    </svg>
  );
});

function Shape({ kind, from, width }: {
  readonly kind: Chapter["kind"]; readonly from: number; readonly width: number;
}): ReactNode {
  const centre = from + width / 2;
  switch (kind) {
    case "attempt":
      return <rect x={from} y={4} width={width} height={16} rx={2} fill="currentColor" />;
    case "wait":
      return <line x1={from} x2={from + width} y1={middle} y2={middle} stroke="currentColor" strokeWidth={3} />;
    case "accepted":
      return <circle cx={centre} cy={middle} r={5} fill="currentColor" />;
    case "exhausted":
    case "cancelled":
      return (
        <path
          d={`M${centre - 5} ${middle - 5}l10 10m0 -10l-10 10`} stroke="currentColor" strokeWidth={3}
        />
      );
    case "replayed":
    case "setting":
      return (
        <path
          d={`M${centre} ${middle - 6}l6 6l-6 6l-6 -6Z`} fill="currentColor"
        />
      );
  }
}

function widthOf({ kind, from, to }: Chapter): number {
  if (kind !== "attempt" && kind !== "wait") return 12;
  const ms = Math.max(0, between(from, to ?? from));
  const scaled = Math.log2(1 + ms / 20);
  return kind === "attempt" ? 10 + Math.min(30, 2 * scaled) : 16 + Math.min(160, 8 * scaled);
}

function lengthText({ from, to }: Chapter): string {
  return to === null ? "not over yet" : durationText(Math.max(0, between(from, to)));
}

/** The class of the colour of a chapter. */
export function toneClass(tone: ChapterTone): string | undefined {
  return tone === "act" ? styles.act : shared[tone];
}
