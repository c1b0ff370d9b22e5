import { useEffect, useRef, useState, type ReactNode } from "react";
import { classes } from "../style/classes.ts";
import shared from "../style/shared.module.css";
import { Copy } from "./copy.tsx";
import type { Mounted } from "./editor/editors.ts";
import { useEditors } from "./editor/use-editors.ts";
import { hexText, isBinary } from "./hex.ts";
import styles from "./json-text.module.css";
import { Failure, Loading } from "./states.tsx";

interface JsonTextProps {
  readonly text: string;
  /** The name of the text for screen readers, such as `Payload`. */
  readonly label: string;
  /** A text to compare it with, and its name. */
  readonly before?: { readonly text: string; readonly label: string } | undefined;
}

/**
 * A text of somebody else, JSON for the most part: indented, with every digit, and a search; a binary one as
 * hexadecimal digits. It is never a link and never markup. Copies are exact. The editor is loaded when the first text
 * is shown.
 */
export function JsonText({ text, label, before }: JsonTextProps): ReactNode {
  const { module: editors, error } = useEditors();
  const [isAsSent, setAsSent] = useState(false);
  const [isCompared, setCompared] = useState(true);
  const host = useRef<HTMLDivElement>(null);
  const mounted = useRef<Mounted>(undefined);
  const differs = before !== undefined && before.text !== text;
  const earlier = differs && isCompared ? before.text : undefined;
  const isHex = isBinary(text);
  useEffect(() => {
    if (!editors || !host.current) return;
    const shown = (one: string) => isAsSent ? one : isBinary(one) ? hexText(one) : editors.indented(one);
    const view = earlier === undefined ? editors.mountText(host.current, shown(text), label)
      : editors.mountChanges(host.current, { before: shown(earlier), after: shown(text), label });
    mounted.current = view;
    return () => view.destroy();
  }, [editors, text, label, isAsSent, earlier]);
  if (error !== undefined) return <Failure error={error} />;
  if (!editors) return <Loading />;
  const toggle = (name: string, isOn: boolean, set: (isOn: boolean) => void) => (
    <button
      type="button" className={classes(shared.plain, shared.small)} aria-pressed={isOn} onClick={() => set(!isOn)}
    >
      {name}
    </button>
  );
  return (
    <div className={styles.jsonText}>
      <div className={styles.jsonActs} role="group" aria-label={`${label}: view`}>
        {before && (
          <span className={classes(shared.small, styles.jsonNote)}>
            {differs ? `Differs from ${before.label}` : `The same as ${before.label}`}
          </span>
        )}
        {isHex && <span className={classes(shared.small, styles.jsonNote)}>Binary: ·· is no UTF-8</span>}
        {differs && toggle("Differences", isCompared, setCompared)}
        <button type="button" className={classes(shared.plain, shared.small)} onClick={() => mounted.current?.search()}>
          Search
        </button>
        {(isHex || editors.isJson(text)) && toggle(isHex ? "As text" : "As sent", isAsSent, setAsSent)}
        <Copy text={text} label={`Copy ${label}`} />
      </div>
      <div ref={host} className={styles.editor} />
    </div>
  );
}
