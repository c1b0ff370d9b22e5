import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import { Copy } from "./copy.tsx";
import { unlessComposing } from "./keys.tsx";
import { textOf } from "./states.tsx";

/**
 * A modal dialog, open as long as it is rendered. Escape and the button in its corner call `close`; without `close`
 * nothing but its content ends it. The focus goes back to where it was.
 */
export function Dialog({ title, close, children }: {
  readonly title: string; readonly close?: () => void; readonly children: ReactNode;
}): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
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
      ref={dialog} aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        close?.();
      }}
      // Chromium closes a dialog at the second Escape without asking.
      onKeyDown={unlessComposing((event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        close?.();
      })}
    >
      <header>
        <h2 id={heading}>{title}</h2>
        {close && <button type="button" className="plain" aria-label="Close" onClick={close}>✕</button>}
      </header>
      {children}
    </dialog>
  );
}

const shownOnce = "It is shown this once. The relay keeps nothing from which it could show it again.";

/** Shows a secret once. Only the word of the person that it is stored closes it. `note` says whether it comes again. */
export function SecretDialog({ title, secret, note = shownOnce, children, done }: {
  readonly title: string; readonly secret: string; readonly note?: string; readonly children?: ReactNode;
  readonly done: () => void;
}): ReactNode {
  return (
    <Dialog title={title}>
      <p>{note}</p>
      <p className="secret"><code>{secret}</code> <Copy text={secret} label="Copy the secret" /></p>
      {children}
      <p className="acts"><button type="button" className="primary" onClick={done}>I have stored it</button></p>
    </Dialog>
  );
}

/** Asks before an act that cannot be undone. With `type`, the act takes that text to be typed. */
export function Confirm({ title, act, type, run, close, children }: {
  readonly title: string;
  /** The name of the act, on its button. */
  readonly act: string;
  readonly type?: string;
  readonly run: () => Promise<unknown>;
  readonly close: () => void;
  readonly children: ReactNode;
}): ReactNode {
  const [typed, setTyped] = useState("");
  const [running, setRunning] = useState(false);
  const [error, setError] = useState<unknown>();
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
      <form onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}>
        {children}
        {type !== undefined && (
          <label className="field">
            <span>Type <strong>{type}</strong> to confirm</span>
            <input value={typed} onChange={({ target }) => setTyped(target.value)} autoComplete="off" />
          </label>
        )}
        {error !== undefined && <p className="problem" role="alert">{textOf(error)}</p>}
        <p className="acts">
          <button type="button" onClick={close}>Keep as it is</button>
          <button type="submit" className="danger" disabled={running || typed !== (type ?? "")}>{act}</button>
        </p>
      </form>
    </Dialog>
  );
}
