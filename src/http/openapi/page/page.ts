import { createHash } from "node:crypto";
import type { Schema, MediaType } from "../../../kernel/operations/description.ts";
import type { ApiDocument, DocumentedOperation, Response } from "../document.ts";
import { html, inline, prose, type Markup, type Part } from "./html.ts";
import { schemaTable, row, typeOf } from "./schema-table.ts";
import { style } from "./style.ts";

/** A page, and its style's source for a Content-Security-Policy. */
export interface Page {
  readonly html: string;
  readonly styleHash: string;
}

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly operation: DocumentedOperation;
}

const access: Readonly<Record<string, string>> = {
  accessToken: "an access token or a service key, in `Authorization: Bearer …`",
  producerKey: "an API key, in `X-Api-Key`",
};

/** One page without scripts or other addresses. */
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

/** A method in its colour. */
export function badge(method: string): Markup {
  return html`<span class="method ${method}">${method.toUpperCase()}</span>`;
}

/** The section of an operation. */
export function operationSection(
  document: ApiDocument,
  method: string,
  path: string,
  operation: DocumentedOperation,
): Markup {
  const { operationId, summary, description = "", security, requestBody, responses } = operation;
  const [scheme] = security.flatMap((needed) => Object.keys(needed));
  const needs = scheme === undefined ? "no authentication" : (access[scheme] ?? scheme);
  const answers = Object.entries(responses).map(([status, given]) =>
    answerRow(status, resolve(document, given) as Response));
  return html`<article id="${operationId}">
<h3><a href="#${operationId}">${summary}</a></h3>
<p class="path">${badge(method)} <code>${path.split(/(?=\/)/).map((part) => [html`<wbr>`, part])}</code></p>
${description === "" ? "" : prose(description)}
<p class="access">Needs ${inline(needs)}.</p>
${parametersTable(operation)}
${Object.entries(requestBody?.content ?? {}).map(([type, content]) => bodySection(document, type, content))}
<h4>Answers</h4>
<div class="wide"><table class="answers"><tbody>${answers}</tbody></table></div>
</article>
`;
}

function parametersTable({ parameters }: DocumentedOperation): Part {
  if (parameters.length === 0) return "";
  const rows = parameters.map(({ name, in: place, required, schema, description }) =>
    row(name, required ? "required" : "none", schema, description, html` <small>in ${place}</small>`));
  return html`<h4>Parameters</h4>
<div class="wide"><table><thead><tr><th>Name</th><th>Type</th><th>Meaning</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

function bodySection(document: ApiDocument, type: string, content: MediaType): Markup {
  const schema = resolve(document, content.schema) as Schema;
  const note = schema.properties ? "" : prose(schema.description ?? "");
  return html`<h4>Body <small>${type}</small></h4>${note}${schemaTable(schema, "sent")}${examplesOf(content)}`;
}

function answerRow(status: string, { description, content = {} }: Response): Markup {
  const kind = status.startsWith("2") ? "good" : "bad";
  const bodies = Object.entries(content).map(([type, media]) => {
    if (type === "text/plain" && media.examples) return said(media.examples);
    return html`<p class="type"><small>${type}</small> ${typeOf(media.schema)}</p>${examplesOf(media)}`;
  });
  return html`<tr><th scope="row"><span class="status ${kind}">${status}</span></th>
<td><p>${inline(description)}</p>${bodies}</td></tr>
`;
}

function said(examples: NonNullable<MediaType["examples"]>): Markup {
  return html`<p class="said">${Object.values(examples).map(({ value }) => html`<code>${String(value)}</code> `)}</p>`;
}

function examplesOf({ examples = {} }: MediaType): Markup[] {
  return Object.entries(examples).map(([name, { value }]) => {
    const shown = JSON.stringify(value, null, 2);
    const title = name === "example" ? "Example" : `Example: ${name}`;
    return html`<details><summary>${title}</summary><pre>${shown}</pre></details>`;
  });
}

function resolve(document: ApiDocument, value: object): unknown {
  if (!("$ref" in value)) return value;
  const path = String(value.$ref).split("/").slice(1);
  return path.reduce<unknown>((at, key) => (at as Readonly<Record<string, unknown>>)[key], document);
}
