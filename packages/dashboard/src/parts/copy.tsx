import { useState, type ReactNode } from "react";
import { classes } from "../style/classes.ts";
import shared from "../style/shared.module.css";
import styles from "./copy.module.css";
import { Icon, icons } from "./icon.tsx";
import { shownText } from "./shown-text.ts";

/** The outcome of the last copy; idle again after two seconds. */
type CopyState = "idle" | "copied" | "refused";

/** Copies texts; the state is the outcome for two seconds. */
export function useCopy(): readonly [state: CopyState, copy: (text: string) => void] {
  const [state, setState] = useState<CopyState>("idle");
  const copy = (text: string) => {
    navigator.clipboard.writeText(text).then(() => setState("copied"), () => setState("refused"));
    setTimeout(() => setState("idle"), 2_000);
  };
  return [state, copy];
}

/** Copies a text. Says so in its own name, also to screen readers. */
export function Copy({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const [state, copy] = useCopy();
  const glyph = { idle: icons.copy, copied: icons.check, refused: icons.x }[state];
  return (
    <button
      type="button" className={classes(shared.plain, styles.copy)} onClick={() => copy(text)} title={label}
      aria-label={{ idle: label, copied: "Copied", refused: "The browser refuses to copy" }[state]}
    >
      <Icon of={glyph} size={14} />
    </button>
  );
}

/** How many characters of a cut text stay at its end. */
const tailLength = 10;

/**
 * A text of any length on one line: where it does not fit, its middle is left out. The whole text is in its tooltip.
 * Of a URL the scheme is left out, so that its host and its end are shown.
 */
export function MiddleCut({ text }: { readonly text: string }): ReactNode {
  const shown = text.replace(/^https:\/\//, "");
  const characters = [...shownText(shown)];
  const tail = characters.length > 2 * tailLength ? characters.splice(-tailLength).join("") : "";
  return (
    <span className={styles.cut} title={text}>
      <span className={shared.hiddenText}>{shown}</span>
      {/* Screen readers would read two texts with a space between them. */}
      <span className={styles.head} data-text={characters.join("")} aria-hidden="true" />
      <span data-text={tail} aria-hidden="true" />
    </span>
  );
}

/** An identifier in full, and a button that copies it. */
export function Id({ value }: { readonly value: string }): ReactNode {
  return <span className={styles.id}><code>{value}</code><Copy text={value} label={`Copy ${value}`} /></span>;
}
