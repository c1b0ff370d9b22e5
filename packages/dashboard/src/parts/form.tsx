import { createContext, use, useId, useRef, useState, type ReactNode } from "react";
import { RelayError } from "../../../client/src/index.ts";
import { fieldsOf } from "./fields.ts";
import { textOf } from "./states.tsx";

/** What went wrong with the last submission: a text for a field, or for the form. */
interface Problem {
  readonly field: string | null;
  readonly text: string;
}

const Problems = createContext<Problem | undefined>(undefined);

/**
 * A form whose fields are submitted as texts by their names. Where the relay refuses a field, its sentence goes to that
 * field, else to the form. After a success it is emptied, unless `keeps` is set.
 */
export function Form({ submit, label, keeps = false, children, cancel }: {
  readonly submit: (fields: Readonly<Record<string, string>>) => Promise<unknown>;
  /** The name of the act, on its button. */
  readonly label: string;
  readonly keeps?: boolean;
  readonly children: ReactNode;
  readonly cancel?: () => void;
}): ReactNode {
  const form = useRef<HTMLFormElement>(null);
  const [problem, setProblem] = useState<Problem>();
  const [running, setRunning] = useState(false);
  const run = async () => {
    const element = form.current;
    if (!element) return;
    setRunning(true);
    setProblem(undefined);
    try {
      await submit(fieldsOf(element));
      if (!keeps) element.reset();
    } catch (error) {
      const named = error instanceof RelayError ? error.details.field : null;
      const control = named === null ? null : element.elements.namedItem(named);
      setProblem({ field: control ? named : null, text: textOf(error) });
      if (control instanceof HTMLElement) control.focus();
    } finally {
      setRunning(false);
    }
  };
  return (
    <form ref={form} className="form" onSubmit={(event) => {
      event.preventDefault();
      void run();
    }}>
      <Problems value={problem}>{children}</Problems>
      {problem?.field === null && <p className="problem" role="alert">{problem.text}</p>}
      <p className="acts">
        {cancel && <button type="button" onClick={cancel}>Cancel</button>}
        <button type="submit" className="primary" disabled={running}>{label}</button>
      </p>
    </form>
  );
}

/** What a control needs to be named by its label, and described by its hint and its problem. */
export interface ControlProps {
  readonly id: string;
  readonly name: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean;
}

/** A labelled control with a hint, and the relay's sentence when it refuses the value. */
export function Field({ name, label, hint, children }: {
  /** The field's name in the body of the request. */
  readonly name: string;
  readonly label: string;
  readonly hint?: ReactNode;
  /** The control; a text input without. */
  readonly children: (props: ControlProps) => ReactNode;
}): ReactNode {
  const problem = use(Problems);
  const id = useId();
  const own = problem?.field === name ? problem.text : undefined;
  const descriptions = [hint === undefined ? [] : `${id}-hint`, own === undefined ? [] : `${id}-problem`].flat();
  const describedBy = descriptions.length === 0 ? undefined : descriptions.join(" ");
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, name, "aria-describedby": describedBy, "aria-invalid": own !== undefined })}
      {hint !== undefined && <small id={`${id}-hint`}>{hint}</small>}
      {own !== undefined && <p className="problem" id={`${id}-problem`} role="alert">{own}</p>}
    </div>
  );
}
