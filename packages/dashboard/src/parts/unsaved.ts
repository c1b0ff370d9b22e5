import type { Search } from "../app/search.ts";

/** The form with unsaved text in a page or a part of it; null without one. */
export function unsavedForm(within: ParentNode = document): Element | null {
  return within.querySelector("form[data-unsaved]");
}

const listeners = new Set<() => void>();

/** Calls back when a form may have become unsaved or saved, until the returned function is called. */
export function onUnsaved(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Calls all listeners back, as after the removal of a form. */
export function tellUnsaved(): void {
  for (const listener of listeners) listener();
}

/** Says whether a form has something in it that is not saved. */
export function markUnsaved(form: Element, isUnsaved: boolean): void {
  if (form.hasAttribute("data-unsaved") === isUnsaved) return;
  form.toggleAttribute("data-unsaved", isUnsaved);
  tellUnsaved();
}

interface Address {
  readonly pathname: string;
  readonly search: Search;
}

/**
 * Whether going to another address takes a form away: one in a dialog goes with any part of the address, one of a page
 * with the page or its tab.
 */
export function leaves(form: Element, from: Address, to: Address): boolean {
  if (form.closest("dialog")) return true;
  return from.pathname !== to.pathname || from.search["tab"] !== to.search["tab"];
}
