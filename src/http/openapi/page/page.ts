import { createHash } from "node:crypto";
import type { Schema } from "../../../kernel/operations/description.ts";
import type { ApiDocument, DocumentedOperation } from "../document.ts";
import { html, inline, prose, type Markup } from "./html.ts";
import { badge, operationSection } from "./operation.ts";
import { schemaTable } from "./schema-table.ts";
import { style } from "./style.ts";

/** A page, and the source by which a Content-Security-Policy allows its style. */
export interface Page {
  readonly html: string;
  readonly styleHash: string;
}

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly operation: DocumentedOperation;
}

/** The document for people: one page that needs no other address and no script. */
export function renderPage(document: ApiDocument): Page {
  const { info, tags, components } = document;
  const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Entry => ({ method, path, operation })));
  const sections = tags.map(({ name, description }) => ({
    name, description, anchor: anchorOf(name), entries: entries.filter(({ operation }) => operation.tags[0] === name),
  }));
  const nav = sections.map(({ name, anchor, entries: own }) => html`<h2><a href="#${anchor}">${name}</a></h2>
<ul>${own.map(navEntry)}</ul>
`);
  const main = sections.map(({ name, description, anchor, entries: own }) => html`<section aria-labelledby="${anchor}">
<h2 id="${anchor}">${name}</h2>
<p>${inline(description)}</p>
${own.map(({ method, path, operation }) => operationSection(document, method, path, operation))}
</section>
`);
  const answered = Object.entries(components.schemas).filter(([name]) => !name.endsWith("Request"));
  const schemas = answered.map(schemaSection);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title} API</title>
<style>${{ markup: style }}</style>
</head>
<body>
<a class="skip" href="#start">To the content</a>
<nav aria-label="Operations">
<strong><a href="#start">${info.title} API</a></strong>
${nav}
<h2><a href="#schemas">Schemas</a></h2>
</nav>
<main>
<h1 id="start">${info.title} API</h1>
<p class="quiet">Version ${info.version}. For machines: <a href="openapi.json">openapi.json</a>, OpenAPI 3.1.</p>
${prose(info.description)}
${main}
<section aria-labelledby="schemas">
<h2 id="schemas">Schemas</h2>
<p>What answers consist of.</p>
${schemas}
</section>
</main>
</body>
</html>
`;
  return { html: page.markup, styleHash: `sha256-${createHash("sha256").update(style).digest("base64")}` };
}

function navEntry({ method, operation }: Entry): Markup {
  return html`<li><a href="#${operation.operationId}">${badge(method)}<span>${operation.summary}</span></a></li>
`;
}

function schemaSection([name, schema]: [string, Schema]): Markup {
  return html`<section class="schema"><h3 id="schema-${name}"><a href="#schema-${name}">${name}</a></h3>
${prose(schema.description ?? "")}${schemaTable(schema, "answered")}</section>
`;
}

function anchorOf(tag: string): string {
  return `about-${tag.toLowerCase().replaceAll(" ", "-")}`;
}
