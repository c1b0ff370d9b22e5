import { useState, type ReactNode } from "react";
import { classes } from "../style/classes.ts";
import shared from "../style/shared.module.css";
import styles from "./copy.module.css";

/** Two sheets, one on the other. Drawn, since few fonts have the sign. */
export function CopyIcon(): ReactNode {
  return (
    <svg className={styles.icon} viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
      <path d="M4 4h7v7H4zM8 4V1H1v7h3" fill="none" stroke="currentColor" />
    </svg>
  );
}

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
  const glyph = { idle: <CopyIcon />, copied: "✓", refused: "✕" }[state];
  return (
    <button
      type="button" className={classes(shared.plain, styles.copy)} onClick={() => copy(text)} title={label}
      aria-label={{ idle: label, copied: "Copied", refused: "The browser refuses to copy" }[state]}
    >
      {glyph}
    </button>
  );
}

/** An identifier in full, and a button that copies it. */
export function Id({ value }: { readonly value: string }): ReactNode {
  return <span className={styles.id}><code>{value}</code><Copy text={value} label={`Copy ${value}`} /></span>;
}
