/** Joins the classes of an element, without those that are undefined or false. */
export function classes(...names: readonly (string | false | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}
