import type { Document, FieldValue, ReadModels, Selection } from "../ports/read-models.ts";

/**
 * Every selected document that stays, a page of about `size` at a time, in the order of a field of times; what
 * comes and goes meanwhile disturbs nothing. `key` is the field that identifies a document. A range of the
 * selection must be one of that field.
 */
export async function* pagesInTime(
  readModels: Pick<ReadModels, "find">,
  selection: Selection,
  { field, key, size }: { readonly field: string; readonly key: string; readonly size: number },
): AsyncGenerator<readonly Document[], void> {
  let from = selection.range?.from;
  /** Documents of the time `from` that were handed out. */
  let seen = new Set<FieldValue | undefined>();
  for (;;) {
    const range = { ...selection.range, field, ...(from !== undefined && { from }) };
    const limit = size + seen.size;
    const found = await readModels.find({ ...selection, range, order: { field, descending: false }, limit });
    const page = found.filter((document) => !seen.has(document[key]));
    if (page.length > 0) yield page;
    const last = found.at(-1)?.[field];
    if (found.length < limit || last === undefined) return;
    if (last !== from) seen = new Set();
    for (const document of found) if (document[field] === last) seen.add(document[key]);
    from = last;
  }
}
