import type { ReactNode } from "react";
import { classes } from "../style/classes.ts";
import { Icon, icons, type IconPath } from "./icon.tsx";
import { statusWord } from "./status-words.ts";
import styles from "./status.module.css";

type Tone = "ok" | "bad" | "wait" | "info" | "off";

const tones: Readonly<Record<string, Tone>> = {
  Succeeded: "ok", Active: "ok", Closed: "ok", Finished: "ok", Accepted: "ok",
  CriticalFailure: "bad", Suspended: "bad", Failed: "bad", Open: "bad",
  WaitingRetry: "wait", HalfOpen: "wait", Held: "wait",
  Pending: "info", Processing: "info", Running: "info",
  Cancelled: "off", Inactive: "off", Revoked: "off", Expired: "off",
};

const glyphs: Readonly<Record<Tone, IconPath>> = {
  ok: icons.check, bad: icons.x, wait: icons.clock, info: icons.circle, off: icons.minus,
};

/** The glyph of a tone. Screen readers skip it. */
export function Glyph({ tone }: { readonly tone: Tone }): ReactNode {
  return <Icon of={glyphs[tone]} size={12} />;
}

/** A status as a tinted pill: glyph and word. */
export function Status({ value, word = value, title }: {
  readonly value: string; readonly word?: string; readonly title?: string;
}): ReactNode {
  const tone = tones[value] ?? "info";
  return <span className={classes(styles.status, styles[tone])} title={title}><Glyph tone={tone} />{word}</span>;
}

/** The status of an event, with the API's word in the tooltip. */
export function EventStatus({ value }: { readonly value: string }): ReactNode {
  return <Status value={value} word={statusWord(value)} title={value} />;
}
