import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import shared from "../style/shared.module.css";
import styles from "./dialog.module.css";
import { Icon, icons } from "./icon.tsx";
import { unlessComposing } from "./keys.tsx";
import { markUnsaved, unsavedForm } from "./unsaved.ts";

/**
 * A modal dialog, open as long as it is rendered. Escape and the button in its corner call `close`, after a question
 * if a form has unsaved text; without `close` only its content ends it. The focus goes back to its former place.
 */
export function Dialog({ title, close, children }: {
  readonly title: string; readonly close?: () => void; readonly children: ReactNode;
}): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const [asks, setAsks] = useState(false);
  const leave = () => {
    if (close && dialog.current && unsavedForm(dialog.current)) setAsks(true);
    else close?.();
  };
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element?.showModal();
    // The browser would begin at the button in the corner.
    element?.querySelector<HTMLElement>("input, select, textarea")?.focus();
    return () => {
      element?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog} className={styles.dialog} aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        leave();
      }}
      // Chromium closes a dialog at the second Escape without asking.
      onKeyDown={unlessComposing((event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        // A dialog around this one stays.
        event.stopPropagation();
        leave();
      })}
    >
      <header>
        <h2 id={heading}>{title}</h2>
        {close && (
          <button type="button" className={shared.plain} aria-label="Close" onClick={leave}>
            <Icon of={icons.x} />
          </button>
        )}
      </header>
      {children}
      {asks && <AskToDiscard within={dialog.current} keep={() => setAsks(false)} discard={() => close?.()} />}
    </dialog>
  );
}

/** Asks whether to discard the unsaved text of a form `within` the page or a part of it. */
export function AskToDiscard({ within, keep, discard }: {
  readonly within?: ParentNode | null; readonly keep: () => void; readonly discard: () => void;
}): ReactNode {
  return (
    <Dialog title="Discard what you typed?" close={keep}>
      <p>It is not saved.</p>
      <p className={shared.acts}>
        <button type="button" onClick={keep}>Keep it</button>
        <button type="button" className={shared.danger} onClick={() => {
          const form = unsavedForm(within ?? document);
          if (form) markUnsaved(form, false);
          discard();
        }}>
          Discard
        </button>
      </p>
    </Dialog>
  );
}
