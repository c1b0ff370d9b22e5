/** The tags of an event: values by name. */
export type Tags = Readonly<Record<string, string>>;

/** One tag of an event. */
export interface Tag {
  readonly name: string;
  readonly value: string;
}

export const mostTags = 10;

const nameForm = /^[a-z0-9_]{1,32}$/;
const mostValueCharacters = 128;

/** Whether a text may be the name of a tag. */
export function isTagName(text: string): boolean {
  return nameForm.test(text);
}

/** Whether a text may be the value of a tag: 1 to 128 characters, neither control characters nor commas. */
export function isTagValue(text: string): boolean {
  if (text === "" || text.length > 2 * mostValueCharacters || !text.isWellFormed()) return false;
  return [...text].length <= mostValueCharacters && !/[\p{Cc},]/u.test(text);
}
