import { useEffect, useRef, useState, type ReactNode } from "react";
import { classes } from "../style/classes.ts";
import shared from "../style/shared.module.css";
import { Copy } from "./copy.tsx";
import type { Mounted } from "./editor/editors.ts";
import { useEditors } from "./editor/use-editors.ts";
import styles from "./json-text.module.css";
import { Failure, Loading } from "./states.tsx";

/**
 * A text of somebody else, JSON for the most part: indented, with every digit, and a search. It is never a link and
 * never markup. Copies are exact. The editor is loaded when the first text is shown.
 */
export function JsonText({ text, label }: {
  readonly text: string;
  /** The name of the text for screen readers, such as `Payload`. */
  readonly label: string;
}): ReactNode {
  const { module: editors, error } = useEditors();
  const [isIndented, setIndented] = useState(true);
  const host = useRef<HTMLDivElement>(null);
  const mounted = useRef<Mounted>(undefined);
  useEffect(() => {
    if (!editors || !host.current) return;
    const view = editors.mountText(host.current, isIndented ? editors.indented(text) : text, label);
    mounted.current = view;
    return () => view.destroy();
  }, [editors, text, label, isIndented]);
  if (error !== undefined) return <Failure error={error} />;
  if (!editors) return <Loading />;
  return (
    <div className={styles.jsonText}>
      <div className={styles.jsonActs} role="group" aria-label={`${label}: view`}>
        <button type="button" className={classes(shared.plain, shared.small)} onClick={() => mounted.current?.search()}>
          Search
        </button>
        {editors.isJson(text) && (
          <button
            type="button" className={classes(shared.plain, shared.small)} aria-pressed={!isIndented}
            onClick={() => setIndented(!isIndented)}
          >
            As sent
          </button>
        )}
        <Copy text={text} label={`Copy ${label}`} />
      </div>
      <div ref={host} className={styles.editor} />
    </div>
  );
}
