import { useState, type ReactNode } from "react";
import shared from "../style/shared.module.css";
import { Copy } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";
import styles from "./dialog.module.css";
import formStyles from "./form.module.css";
import { shownText } from "./shown-text.ts";
import { textOf } from "./states.tsx";

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
