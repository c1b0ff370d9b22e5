/** The texts in the fields of a form, by the names of the fields. Files are left out. */
export function fieldsOf(form: HTMLFormElement): Readonly<Record<string, string>> {
  return Object.fromEntries([...new FormData(form)].filter((field) => isText(field)));
}

function isText(field: [name: string, value: FormDataEntryValue]): field is [string, string] {
  return typeof field[1] === "string";
}
