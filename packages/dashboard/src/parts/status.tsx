import type { ReactNode } from "react";
import { classes } from "../style/classes.ts";
import shared from "../style/shared.module.css";
import styles from "./status.module.css";

type Tone = "ok" | "bad" | "wait" | "info" | "off";

const tones: Readonly<Record<string, Tone>> = {
  Succeeded: "ok", Active: "ok", Closed: "ok", Finished: "ok", Accepted: "ok",
  CriticalFailure: "bad", Suspended: "bad", Failed: "bad", Open: "bad",
  WaitingRetry: "wait", HalfOpen: "wait", Held: "wait",
  Pending: "info", Processing: "info", Running: "info",
  Cancelled: "off", Inactive: "off", Revoked: "off", Expired: "off",
};

const glyphs: Readonly<Record<Tone, string>> = { ok: "✓", bad: "✕", wait: "◔", info: "●", off: "—" };

/** A status as glyph, colour and word. */
export function Status({ value }: { readonly value: string }): ReactNode {
  const tone = tones[value] ?? "info";
  return (
    <span className={classes(styles.status, shared[tone])}><span aria-hidden="true">{glyphs[tone]}</span> {value}</span>
  );
}
