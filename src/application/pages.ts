import type { Document, FieldValue, ReadModels, Selection } from "../ports/read-models.ts";

/**
 * Every selected document that stays, a page of about `size` at a time, in the order of `key`, the field that
 * identifies a document; what comes and goes meanwhile disturbs nothing. A range of the selection must be one of that
 * field.
 */
export async function* pagesByKey(
  readModels: Pick<ReadModels, "find">,
  selection: Selection,
  { key, size }: { readonly key: string; readonly size: number },
): AsyncGenerator<readonly Document[], void> {
  let last: FieldValue | undefined;
  for (;;) {
    const range = { ...selection.range, field: key, ...(last !== undefined && { from: last }) };
    // The last one, where it is still there, and as many as are wanted.
    const limit = size + (last === undefined ? 0 : 1);
    const found = await readModels.find({ ...selection, range, order: { field: key, descending: false }, limit });
    const page = found.filter((document) => document[key] !== last);
    if (page.length > 0) yield page;
    if (found.length < limit) return;
    last = found.at(-1)?.[key];
  }
}

const atOnce = 500;

/** Every selected document, in the order of `key`, as {@link pagesByKey} has them; asked for in parts. */
export async function everyDocument(
  readModels: Pick<ReadModels, "find">, selection: Selection, key: string,
): Promise<readonly Document[]> {
  return (await Array.fromAsync(pagesByKey(readModels, selection, { key, size: atOnce }))).flat();
}

/** Every value that a text field has among the selected documents, each once, ascending; asked for in parts. */
export async function everyValue(
  readModels: Pick<ReadModels, "distinct">, selection: Selection, field: string,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (;;) {
    const after = found.at(-1);
    const options = { ...(after !== undefined && { after }), limit: atOnce };
    const values = await readModels.distinct(selection, field, options);
    found.push(...(values as readonly string[]));
    if (values.length < atOnce) return found;
  }
}
