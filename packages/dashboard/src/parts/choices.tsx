import type { ReactNode } from "react";
import styles from "./form.module.css";

/** A value to choose, and how it is shown. */
export interface Option<Value extends string> {
  readonly value: Value;
  readonly shown: ReactNode;
}

interface Choosing<Value extends string> {
  readonly options: readonly Option<Value>[];
  readonly chosen: readonly Value[];
  readonly choose: (chosen: readonly Value[]) => void;
}

/** The options for words of the API, each with its meaning. */
export function wordOptions<Value extends string>(meanings: Readonly<Record<Value, string>>): readonly Option<Value>[] {
  return (Object.keys(meanings) as Value[]).map((value) =>
    ({ value, shown: <><code>{value}</code> <small>{meanings[value]}</small></> }));
}

/** Checkboxes under a legend. */
export function Choices<Value extends string>(
  { legend, ...choosing }: Choosing<Value> & { readonly legend: string },
): ReactNode {
  return (
    <fieldset className={styles.choices}>
      <legend>{legend}</legend>
      <Checkboxes {...choosing} />
    </fieldset>
  );
}

/** Checkboxes, one for each value; the chosen ones keep the order of the options. */
export function Checkboxes<Value extends string>({ options, chosen, choose }: Choosing<Value>): ReactNode {
  const turn = (turned: Value, on: boolean) => choose(options.map(({ value }) => value)
    .filter((value) => value === turned ? on : chosen.includes(value)));
  return options.map(({ value, shown }) => (
    <label key={value}>
      <input type="checkbox" checked={chosen.includes(value)} onChange={({ target }) => turn(value, target.checked)} />
      <span>{shown}</span>
    </label>
  ));
}
