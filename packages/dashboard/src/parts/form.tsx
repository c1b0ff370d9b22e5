import { RelayError } from "@webhook-relay/client";
import { createContext, use, useEffect, useId, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import shared from "../style/shared.module.css";
import { changedIn, fieldsOf, followValues, type Fields } from "./fields.ts";
import styles from "./form.module.css";
import { textOf } from "./states.tsx";
import { markUnsaved, tellUnsaved } from "./unsaved.ts";

/** The error of the last submission: a text for a field, or for the form. */
interface Problem {
  readonly field: string | null;
  readonly text: string;
}

/** A thing that a form changes, as it is now. */
export interface Edited {
  /** The texts of its fields by their names; those that are left out are empty. */
  readonly values: Fields;
  /** When it was changed last. */
  readonly updatedAt?: string;
  /** Lists the changes since a moment, for a person with the form open. */
  readonly changedSince?: (moment: string) => ReactNode;
}

interface OfForm {
  readonly problem?: Problem | undefined;
  readonly values?: Fields | undefined;
}

const FormContext = createContext<OfForm>({});

/**
 * A form whose fields are submitted as texts by their names. The relay's sentence about a field goes to that field, any
 * other to the form. After a success the form is emptied, unless `keeps` is set. With `of`, only fields that differ
 * from the thing are `changed`, and an unchanged form is not submitted. When the thing changes meanwhile, untouched
 * fields follow it, and typed text stays.
 */
export function Form({ submit, label, keeps = false, of, guarded = true, children, cancel }: {
  /** Resolves with false if nothing was done after all. */
  readonly submit: (fields: Fields, changed: Fields) => Promise<unknown>;
  /** The name of the act, on its button. */
  readonly label: string;
  readonly keeps?: boolean;
  readonly of?: Edited;
  /** Whether the form asks before typed text is lost. */
  readonly guarded?: boolean;
  readonly children: ReactNode;
  readonly cancel?: () => void;
}): ReactNode {
  const form = useRef<HTMLFormElement>(null);
  const [problem, setProblem] = useState<Problem>();
  const [running, setRunning] = useState(false);
  const [said, setSaid] = useState("");
  const [begun, setBegun] = useState(of);
  /** After a success: the last change of the thing before it. The next state of the thing is the saved one. */
  const savedFrom = useRef<{ readonly updatedAt: string | undefined }>(undefined);
  /** The texts to compare the fields with: those of the thing, or of the form as it began. */
  const base = useRef<Fields>(undefined);
  const mark = () => {
    if (!form.current || !guarded) return;
    markUnsaved(form.current, Object.keys(changedIn(form.current, base.current)).length > 0);
  };
  useLayoutEffect(() => {
    if (!form.current) return;
    if (!of) {
      base.current ??= fieldsOf(form.current);
      return;
    }
    if (savedFrom.current === undefined || savedFrom.current.updatedAt !== of.updatedAt) {
      if (base.current) followValues(form.current, base.current, of.values);
      base.current = of.values;
      if (savedFrom.current) setBegun(of);
      savedFrom.current = undefined;
    }
    if (!running) mark();
  });
  useEffect(() => tellUnsaved, []);
  const run = async () => {
    const element = form.current;
    if (!element) return;
    const changed = changedIn(element, base.current);
    setProblem(undefined);
    if (of && Object.keys(changed).length === 0) return setSaid("Nothing was changed.");
    setSaid("");
    setRunning(true);
    markUnsaved(element, false);
    const fields = fieldsOf(element);
    try {
      if (await submit(fields, changed) === false) return mark();
      if (!keeps) element.reset();
      if (!of) return;
      savedFrom.current = { updatedAt: of.updatedAt };
      base.current = fields;
      setSaid("Saved.");
    } catch (error) {
      const field = error instanceof RelayError ? fieldIn(element, error.details.field) : null;
      const control = field === null ? null : element.elements.namedItem(field);
      setProblem({ field, text: textOf(error) });
      if (control instanceof HTMLElement) control.focus();
      mark();
    } finally {
      setRunning(false);
    }
  };
  const isChanged = of !== undefined && begun !== undefined && !running && !sameFields(of.values, begun.values);
  return (
    <form
      ref={form} className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
      onInput={() => {
        setSaid("");
        mark();
      }}
    >
      <FormContext value={{ problem, values: of?.values }}>{children}</FormContext>
      {problem?.field === null && <p className={shared.problem} role="alert">{problem.text}</p>}
      {isChanged && of.changedSince?.(begun.updatedAt ?? "")}
      <p className={shared.acts}>
        {cancel && (
          <button type="button" onClick={() => {
            if (form.current) markUnsaved(form.current, false);
            cancel();
          }}>
            Cancel
          </button>
        )}
        <button type="submit" className={shared.primary} disabled={running}>{label}</button>
        {of && <span role="status">{said}</span>}
      </p>
    </form>
  );
}

/** The properties of a control: its first value, its name by its label, and its description by hint and problem. */
export interface ControlProps {
  readonly id: string;
  readonly name: string;
  readonly defaultValue?: string;
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
  const { problem, values } = use(FormContext);
  const id = useId();
  const own = problem?.field === name ? problem.text : undefined;
  const descriptions = [hint === undefined ? [] : `${id}-hint`, own === undefined ? [] : `${id}-problem`].flat();
  const describedBy = descriptions.length === 0 ? undefined : descriptions.join(" ");
  const value = values && { defaultValue: values[name] ?? "" };
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children({ id, name, ...value, "aria-describedby": describedBy, "aria-invalid": own !== undefined })}
      {hint !== undefined && <small id={`${id}-hint`}>{hint}</small>}
      {own !== undefined && <p className={shared.problem} id={`${id}-problem`} role="alert">{own}</p>}
    </div>
  );
}

/** The field of a form for an error: `metadata` for one of `metadata.team`. Null without such a field. */
function fieldIn(form: HTMLFormElement, named: string | null): string | null {
  for (let name = named ?? ""; name !== ""; name = name.slice(0, Math.max(0, name.lastIndexOf(".")))) {
    if (form.elements.namedItem(name)) return name;
  }
  return null;
}

function sameFields(one: Fields, other: Fields): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
