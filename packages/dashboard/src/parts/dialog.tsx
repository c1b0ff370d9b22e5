import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import shared from "../style/shared.module.css";
import { Copy } from "./copy.tsx";
import styles from "./dialog.module.css";
import formStyles from "./form.module.css";
import { Icon, icons } from "./icon.tsx";
import { unlessComposing } from "./keys.tsx";
import { shownText } from "./shown-text.ts";
import { textOf } from "./states.tsx";
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

const shownOnce = "It is shown this once. The relay keeps nothing from which it could show it again.";

/** Shows a secret, until the person confirms to have stored it. `note` says whether it can be shown again. */
export function SecretDialog({ title, secret, note = shownOnce, children, done }: {
  readonly title: string; readonly secret: string; readonly note?: string; readonly children?: ReactNode;
  readonly done: () => void;
}): ReactNode {
  return (
    <Dialog title={title}>
      <p>{note}</p>
      <p className={styles.secret}><code>{secret}</code> <Copy text={secret} label="Copy the secret" /></p>
      {children}
      <p className={shared.acts}>
        <button type="button" className={shared.primary} onClick={done}>I have stored it</button>
      </p>
    </Dialog>
  );
}

/** The question to a person before an act, and its consequence. */
export interface Question {
  readonly title: string;
  /** The name of the act, on its button. */
  readonly act: string;
  /** A text to type. */
  readonly type?: string;
  /** Whether nothing is lost by the act: red is for the others. */
  readonly isHarmless?: boolean;
  readonly children: ReactNode;
}

/** Asks before acts: `ask` resolves with whether the person goes on. The dialog has to be rendered. */
export function useQuestion(): {
  readonly ask: (question: Question) => Promise<boolean>; readonly dialog: ReactNode;
} {
  const [asked, setAsked] = useState<Question & { readonly answer: (goesOn: boolean) => void }>();
  const ask = (question: Question) =>
    new Promise<boolean>((answer) => setAsked({ ...question, answer }));
  const close = () => {
    asked?.answer(false);
    setAsked(undefined);
  };
  const dialog = asked && <Confirm {...asked} run={async () => asked.answer(true)} close={close} />;
  return { ask, dialog };
}

/** Asks before an act that cannot be undone. With `type`, the act takes that text to be typed. */
export function Confirm({ title, act, type, isHarmless = false, run, close, children }: Question & {
  readonly run: () => Promise<unknown>;
  readonly close: () => void;
}): ReactNode {
  const [typed, setTyped] = useState("");
  const [running, setRunning] = useState(false);
  const [error, setError] = useState<unknown>();
  // Control characters show as symbols, and only the symbols can be typed.
  const isConfirmed = type === undefined || typed === type || typed === shownText(type);
  const submit = async () => {
    setRunning(true);
    try {
      await run();
      close();
    } catch (problem) {
      setError(problem);
      setRunning(false);
    }
  };
  return (
    <Dialog title={title} close={close}>
      <form className={formStyles.form} onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}>
        {children}
        {type !== undefined && (
          <label className={formStyles.field}>
            <span>Type <strong>{type}</strong> to confirm</span>
            <input value={typed} onChange={({ target }) => setTyped(target.value)} autoComplete="off" />
          </label>
        )}
        {error !== undefined && <p className={shared.problem} role="alert">{textOf(error)}</p>}
        <p className={shared.acts}>
          <button type="button" onClick={close}>Keep as it is</button>
          <button
            type="submit" className={isHarmless ? shared.primary : shared.danger} disabled={running || !isConfirmed}
          >
            {act}
          </button>
        </p>
      </form>
    </Dialog>
  );
}
