/** Safe markup. */
export interface Markup {
  readonly markup: string;
}

/** A value of a template. */
export type Part = Markup | string | number | readonly Part[];

/** Markup from a template; other values are escaped. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { markup: String.raw({ raw: strings }, ...parts.map(render)) };
}

/** Paragraphs of Markdown with code in backticks. */
export function prose(text: string): Markup[] {
  return text.split("\n\n").map((paragraph) => html`<p>${inline(paragraph)}</p>`);
}

/** A line of text with code in backticks. */
export function inline(text: string): Part[] {
  return text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}

function render(part: Part): string {
  if (typeof part === "string" || typeof part === "number") return escape(String(part));
  return "markup" in part ? part.markup : part.map(render).join("");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;",
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
