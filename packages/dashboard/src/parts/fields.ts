/** The texts of fields by their names. */
export type Fields = Readonly<Record<string, string>>;

/** The texts in the fields of a form, by the names of the fields. Files are left out. */
export function fieldsOf(form: HTMLFormElement): Fields {
  return Object.fromEntries([...new FormData(form)].filter((field) => isText(field)));
}

function isText(field: [name: string, value: FormDataEntryValue]): field is [string, string] {
  return typeof field[1] === "string";
}

/** The fields of a form whose texts differ from those before; a field that was not there before was empty. */
export function changedIn(form: HTMLFormElement, before: Fields = {}): Fields {
  return Object.fromEntries(Object.entries(fieldsOf(form)).filter(([name, text]) => text !== (before[name] ?? "")));
}

/** Sets the untouched fields of a form to their present values; typed text stays. */
export function followValues(form: HTMLFormElement, before: Fields, now: Fields): void {
  for (const name of Object.keys({ ...before, ...now })) {
    const control = form.elements.namedItem(name);
    const value = now[name] ?? "";
    if (!isControl(control) || control.value !== (before[name] ?? "") || control.value === value) continue;
    control.value = value;
    // Parts of the form may depend on the choice.
    control.dispatchEvent(new Event("change", { bubbles: true }));
  }
}

function isControl(
  element: Element | RadioNodeList | null,
): element is HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement {
  return element instanceof HTMLInputElement || element instanceof HTMLSelectElement
    || element instanceof HTMLTextAreaElement;
}
