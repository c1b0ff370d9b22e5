import type { Schema } from "../../../kernel/operations/description.ts";
import { html, inline, type Markup, type Part } from "./html.ts";

const requirements = {
  required: html` <span class="required">required</span>`,
  "not always": html` <small>not always there</small>`,
  none: "",
} as const;

/** A table of a body's fields, those of inner objects included. */
export function schemaTable(schema: Schema, use: "sent" | "answered"): Markup {
  const [base, own] = schema.allOf ?? [];
  if (base && own) return html`<p>All fields of ${typeOf(base)}, and:</p>${schemaTable(own, use)}`;
  const rows = fieldsOf(schema, "", use);
  if (rows.length === 0) return html`<p class="type">${typeOf(schema)}</p>`;
  return html`<div class="wide"><table><thead><tr><th>Field</th><th>Type</th><th>Meaning</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

/** A row for a parameter or field. */
export function row(
  name: string,
  requirement: keyof typeof requirements,
  schema: Schema,
  description: string,
  note: Part = "",
): Markup {
  return html`<tr><th scope="row"><code>${name}</code>${requirements[requirement]}${note}</th>
<td class="type">${typeOf(schema)}</td><td>${inline(description)}</td></tr>
`;
}

function fieldsOf({ properties = {}, required = [] }: Schema, prefix: string, use: "sent" | "answered"): Markup[] {
  const [always, otherwise] = use === "sent" ? (["required", "none"] as const) : (["none", "not always"] as const);
  return Object.entries(properties).flatMap(([name, property]) => [
    row(prefix + name, required.includes(name) ? always : otherwise, property, property.description ?? ""),
    ...fieldsOf(property, `${prefix}${name}.`, use),
  ]);
}

/** Type and constraints of a schema, or a link to it. */
export function typeOf(schema: Schema): Part {
  const { $ref, type, enum: values, items, oneOf } = schema;
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf("/") + 1);
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  if (oneOf) return separated(oneOf.map(typeOf), ", ");
  if (values) {
    const options = separated(values.map((value) => html`<code>${JSON.stringify(value)}</code>`), ", ");
    return [options, constraintsOf(schema)];
  }
  if (items) return ["array of ", typeOf(items), constraintsOf(schema)];
  return [[type ?? "any"].flat().join(" or "), constraintsOf(schema)];
}

function constraintsOf(schema: Schema): Part {
  const { format, minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, default: standIn } = schema;
  const said: Part[] = [];
  if (format !== undefined) said.push(format);
  if (minimum !== undefined || maximum !== undefined) said.push(range(minimum, maximum));
  if (minLength !== undefined || maxLength !== undefined) said.push(`${range(minLength, maxLength)} characters`);
  if (minItems !== undefined || maxItems !== undefined) said.push(`${range(minItems, maxItems)} items`);
  if (pattern !== undefined) said.push(html`<code>${pattern}</code>`);
  if (standIn !== undefined) said.push(["default ", html`<code>${JSON.stringify(standIn)}</code>`]);
  return said.map((part) => html`<br><small>${part}</small>`);
}

function range(least: number | undefined, most: number | undefined): string {
  const [from, to] = [least, most].map((limit) => limit?.toLocaleString("en"));
  if (from === to) return from ?? "";
  if (to === undefined) return `at least ${from}`;
  return from === undefined ? `at most ${to}` : `${from} to ${to}`;
}

function separated(parts: readonly Part[], separator: string): Part[] {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part]));
}
