import type { Document, FieldValue, ReadModels, Selection, Collection } from "../ports/read-models.ts";

/** Which documents of a collection to select; all of them where nothing is said. */
export type Narrowing = Omit<Selection, "collection">;

/** The document of a collection with this key, or null. */
export function documentOf<Shape extends Document>(
  readModels: Pick<ReadModels, "get">, { name }: Collection<Shape>, key: string,
): Promise<Shape | null> {
  return readModels.get(name, key) as Promise<Shape | null>;
}

/** Every selected document that exists throughout, in pages of about `size`, in the order of the key. */
export async function* pagesOf<Shape extends Document>(
  readModels: Pick<ReadModels, "find">,
  { name: collection, key }: Collection<Shape>,
  { size, ...narrowing }: Narrowing & { readonly size: number },
): AsyncGenerator<readonly Shape[], void> {
  const order = { field: key, descending: false };
  let last: FieldValue | undefined;
  for (;;) {
    const range = { ...narrowing.range, field: key, ...(last !== undefined && { from: last }) };
    const limit = size + (last === undefined ? 0 : 1);
    const found = (await readModels.find({ ...narrowing, collection, range, order, limit })) as readonly Shape[];
    const page = found.filter((document) => document[key] !== last);
    if (page.length > 0) yield page;
    if (found.length < limit) return;
    last = found.at(-1)?.[key];
  }
}

const atOnce = 500;

/** Every selected document, as {@link pagesOf} has them; asked for in parts. */
export async function everyDocument<Shape extends Document>(
  readModels: Pick<ReadModels, "find">, collection: Collection<Shape>, narrowing: Narrowing = {},
): Promise<readonly Shape[]> {
  return (await Array.fromAsync(pagesOf(readModels, collection, { ...narrowing, size: atOnce }))).flat();
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
