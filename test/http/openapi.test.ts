import { createHash } from "node:crypto";
import { Validator } from "@seriousme/openapi-schema-validator";
import addFormats from "ajv-formats";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { histories } from "../../src/features/facts.ts";
import { ingestOperation, ingestPath } from "../../src/features/ingest/operation.ts";
import { renderPage } from "../../src/http/openapi/page/page.ts";
import { failureReasons } from "../../src/kernel/domain/failure-reason.ts";
import type { DescribedAnswer, Schema } from "../../src/kernel/operations/description.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";
import { apiDocument, closedDocument, operations } from "../support/document.ts";
import { http } from "../support/http.ts";

const documented = Object.entries(apiDocument.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })));

/** Every value within a value, with the keys that lead to it. */
function* within(value: unknown, place: readonly string[] = []): Generator<[string[], unknown]> {
  yield [[...place], value];
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) yield* within(inner, [...place, key]);
}

describe("the OpenAPI document", () => {
  it("is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate({ ...structuredClone(apiDocument) });
    expect(errors ?? [], JSON.stringify(errors)).to.deep.equal([]);
    expect([valid, validator.version]).to.deep.equal([true, "3.1"]);
  });

  it("has every operation of the app, and no other", () => {
    expect(operations.filter(({ path }) => ingestPath(path))).to.deep.equal([ingestOperation]);
    expect(operations.filter(({ run }) => !run)).to.deep.equal([ingestOperation]);
    expect(documented).to.have.length(operations.length);
  });

  it("gives each operation a unique id", () => {
    const ids = documented.map(({ operation }) => operation.operationId);
    expect(new Set(ids)).to.have.length(ids.length);
    for (const id of ids) expect(id).to.match(/^[a-z][A-Za-z]+$/);
  });

  it("names the parameters of each path", () => {
    for (const { path, operation } of documented) {
      const named = operation.parameters.flatMap((one) => (one.in === "path" ? [one.name] : []));
      expect(named, path).to.deep.equal([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    }
  });

  it("describes everything: operations, parameters, answers, schemas and each of their fields", () => {
    const missing = [...within(apiDocument)].filter(([place, value]) => {
      if (place.includes("examples") || place.includes("example")) return false;
      const [parent = "", grandparent = ""] = place.slice(0, -1).reverse();
      const isField = parent === "properties";
      const isComponent = grandparent === "components" && parent !== "securitySchemes";
      const isParameter = parent === "parameters" && grandparent !== "components";
      const isAnswer = parent === "responses";
      if (!isField && !isComponent && !isParameter && !isAnswer) return false;
      const { $ref, description } = value as Schema;
      return $ref === undefined && (description ?? "").length < 5;
    });
    expect(missing.map(([place]) => place.join("."))).to.deep.equal([]);
    for (const { operation } of documented) expect(operation.summary).to.match(/^[A-Z].{4,60}[^.]$/);
  });

  it("refers only to existing components, and uses each component", () => {
    const references = [...within(apiDocument)].filter(([place]) => place.at(-1) === "$ref");
    const pointers = references.map(([, value]) => String(value));
    const { securitySchemes: _used, ...components } = apiDocument.components;
    const known = Object.entries(components).flatMap(([kind, named]) =>
      Object.keys(named).map((name) => `#/components/${kind}/${name}`));
    expect([...new Set(pointers)]).to.have.members(known);
    const tags = apiDocument.tags.map(({ name }) => name);
    expect([...new Set(documented.flatMap(({ operation }) => operation.tags))]).to.have.members(tags);
  });

  it("has examples valid by their schemas, for every body and answer with fields", () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    ajv.addSchema(closedDocument, "document");
    let checked = 0;
    for (const [place, value] of within(apiDocument)) {
      if (place.at(-2) !== "content") continue;
      const pointer = [...place, "schema"].map((key) => encodeURIComponent(key.replaceAll("/", "~1"))).join("/");
      const check = ajv.compile({ $ref: `document#/${pointer}` });
      const { schema, examples = {} } = value as { schema: Schema; examples?: Record<string, { value: unknown }> };
      if (schema.$ref !== undefined) expect(examples, place.join(" ")).not.to.deep.equal({});
      for (const [name, { value: example }] of Object.entries(examples)) {
        expect(check(example), `${place.join(" ")} ${name}: ${ajv.errorsText(check.errors)}`).to.equal(true);
        checked += 1;
      }
    }
    expect(checked).to.be.greaterThan(150);
  });

  it("has schemas of bodies as strict as the relay, as far as a schema can say it", () => {
    const ajv = new Ajv2020({ strict: false, formats: { email: true, password: true, uri: true, uuid: true } });
    ajv.addSchema(apiDocument, "document");
    const tenant = { ownerEmail: "owner@example.com", ownerPassword: "correct horse battery" };
    const sender = { destinationUrlId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e03" };
    const url = "https://receiver.example.com/hook";
    const named: [string, object][] = [
      ["CreateTenantRequest", tenant], ["UpdateTenantRequest", {}], ["CreateSenderRequest", sender],
      ["UpdateSenderRequest", {}], ["CreateApiKeyRequest", {}],
    ];
    const authenticated: [string, object][] = [["CreateDestinationRequest", { url }], ["UpdateDestinationRequest", {}]];
    const table = [
      ...named.flatMap(([schema, fields]) => [
        [schema, { ...fields, name: " Shop " }, true], [schema, { ...fields, name: "" }, false],
        [schema, { ...fields, name: "a\tb" }, false], [schema, { ...fields, name: "a\u0085b" }, false],
      ] as const),
      ...authenticated.flatMap(([schema, fields]) => [
        [schema, { ...fields, authType: "BearerToken", credentials: {} }, true],
        [schema, { ...fields, authType: "BearerToken" }, false], [schema, { ...fields, credentials: {} }, false],
      ] as const),
    ];
    for (const [schema, body, taken] of table) {
      const check = ajv.compile({ $ref: `document#/components/schemas/${schema}` });
      expect(check(body), `${schema} ${JSON.stringify(body)}`).to.equal(taken);
    }
  });

  it("forbids further fields only in bulk operations, replacements of secrets, orderings: others may get more", () => {
    const closed = [...within(apiDocument)].filter(([place, value]) =>
      place.at(-1) === "additionalProperties" && value === false);
    const bulk = ["OrderReplayRequest", "PurgeEventsRequest", "ReplayEventsRequest", "CancelEventsRequest"];
    const replacements = ["RotateKeyRequest", "ReplaceSecretRequest"];
    const orderings = ["Create", "Update"].map((kind) => `${kind}DestinationRequest.properties.ordering.oneOf.1`);
    expect(closed.map(([place]) => place.slice(0, -1).join(".")))
      .to.have.members([...bulk, ...replacements, ...orderings].map((name) => `components.schemas.${name}`));
  });

  it("has a schema of 200 that takes ingest's 202: many generated clients read both by one schema", () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    ajv.addSchema(apiDocument, "document");
    const { operation } = documented.find(({ operation: { operationId } }) => operationId === "ingest") ?? {};
    const { content } = operation?.responses["202"] as DescribedAnswer;
    const check = ajv.compile({ $ref: "document#/components/schemas/Duplicate" });
    const acceptance = content?.["application/json"]?.examples?.["example"]?.value;
    expect(check(acceptance), ajv.errorsText(check.errors)).to.equal(true);
  });

  it("leaves no object without properties and no value of several types, which generators cannot express", () => {
    const unclear = [...within(apiDocument)].filter(([place, value]) => {
      if (place.includes("examples")) return false;
      const { type = [], properties, additionalProperties } = (value ?? {}) as Schema;
      const types = [type].flat().filter((one) => one !== "null");
      const isBare = types.includes("object") && properties === undefined && additionalProperties === undefined;
      return isBare || types.length > 1;
    });
    expect(unclear.map(([place]) => place.join("."))).to.deep.equal([]);
  });

  it("has no titles of schemas: some generators take a title for the name of the type", () => {
    const titled = Object.entries(apiDocument.components.schemas).filter(([, schema]) => "title" in schema);
    expect(titled.map(([name]) => name)).to.deep.equal([]);
  });

  it("gives every enumeration its type: without it generated clients accept any value", () => {
    const untyped = [...within(apiDocument)].filter(([place, value]) => {
      const { type, enum: values } = (value ?? {}) as Schema;
      return !place.includes("examples") && place.at(-1) !== "not" && values !== undefined && type === undefined;
    });
    expect(untyped.map(([place]) => place.join("."))).to.deep.equal([]);
  });

  it("has an enumeration instead of each constant: many generators take a constant for any text", () => {
    const constants = [...within(apiDocument)].filter(([place]) => place.at(-1) === "const");
    expect(constants.map(([place]) => place.join("."))).to.deep.equal([]);
  });

  it("has unique component names across kinds and cases: some generators make one type of a name", () => {
    const names = Object.values(apiDocument.components).flatMap((named) =>
      Object.keys(named).map((name) => name.toLowerCase()));
    expect(new Set(names)).to.have.length(names.length);
  });

  it("has no default in a body: some generated clients would require the field", () => {
    const bodies = Object.entries(apiDocument.components.schemas).filter(([name]) => name.endsWith("Request"));
    const defaults = [...within(Object.fromEntries(bodies))].filter(([place]) => place.at(-1) === "default");
    expect(defaults.map(([place]) => place.join("."))).to.deep.equal([]);
    const { serverRateLimit } = apiDocument.components.schemas["CreateDestinationRequest"]?.properties ?? {};
    expect(serverRateLimit?.description).to.equal("Most requests in flight at once. 5 if absent.");
  });

  it("has no headers as parameters but ingest's: imported collections send placeholders for them", () => {
    const headers = documented.flatMap(({ operation }) => operation.parameters.filter((one) => one.in === "header"));
    const ofIngest = ["X-Idempotency-Key", "X-Event-Type", "X-Owner-Id", "X-Tags"];
    expect(headers.map(({ name }) => name)).to.deep.equal(ofIngest);
  });

  it("names for each history the types of its facts, and no other", () => {
    const described = {
      listTenantHistory: "tenant", listPurgeHistory: "purges", listReplayHistory: "replays",
      listCancellationHistory: "cancellations", listApiKeyHistory: "apiKey",
      listServiceAccountHistory: "serviceAccount", listInviteHistory: "invite", listDestinationHistory: "destination",
      listCircuitHistory: "circuit", listSenderHistory: "sender", listEventHistory: "event",
      listSubscriptionHistory: "subscriptions",
    } as const;
    const ofHistories = documented.filter(({ path }) => path.endsWith("/history"));
    expect(ofHistories.map(({ operation }) => operation.operationId)).to.have.members(Object.keys(described));
    const all = Object.values(histories).flat();
    for (const { operation: { operationId, description = "" } } of ofHistories) {
      const words = new Set(description.match(/\w+/g));
      const types = histories[described[operationId as keyof typeof described]];
      expect(all.filter((type) => words.has(type)), operationId).to.have.members(types);
    }
  });

  it("describes each parameter of the lists", () => {
    const parameters = (id: string) =>
      documented.find(({ operation }) => operation.operationId === id)?.operation.parameters;
    expect(parameters("listEvents")).to.deep.include({
      name: "Qt", in: "query", required: false, description: "Items per page.",
      schema: { type: "integer", minimum: 1, maximum: 100, default: 20 },
    });
    expect(parameters("listUsers")).to.deep.include({
      name: "Role", in: "query", required: false, description: "0 Developer, 1 Admin, 10 Owner, 20 Viewer.",
      schema: { type: "integer", enum: [0, 1, 10, 20] },
    });
  });
});

describe("descriptions of the API", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  before(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
  });
  after(async () => {
    await api.close();
    await engines.close();
  });

  it("have every reason of a failed attempt", () => {
    const { reason } = apiDocument.components.schemas["Attempt"]?.properties ?? {};
    expect(reason?.enum).to.deep.equal([...failureReasons, null]);
  });

  it("include the document for machines", async () => {
    const answer = await http("GET", `${api.url}/openapi.json`);
    expect(answer.headers.get("content-type")).to.equal("application/json; charset=utf-8");
    expect(answer.json).to.deep.equal(structuredClone(apiDocument));
  });

  describe("for people", () => {
    let page: string;
    let policy: string;
    before(async () => {
      const answer = await http("GET", `${api.url}/docs`);
      expect(answer.headers.get("content-type")).to.equal("text/html; charset=utf-8");
      page = answer.text;
      policy = answer.headers.get("content-security-policy") ?? "";
    });

    it("let the browser use the page's own style and nothing else", () => {
      const [, style = ""] = /<style>([^]*?)<\/style>/.exec(page) ?? [];
      const hash = createHash("sha256").update(style).digest("base64");
      expect(policy.split("; ").sort()).to.deep.equal([
        "base-uri 'none'", "default-src 'none'", "form-action 'none'", "frame-ancestors 'none'",
        `style-src 'sha256-${hash}'`,
      ]);
      expect(page).not.to.match(/<script|<link|<img|<iframe|\sstyle=|\son\w+=|url\(|@import/i);
    });

    it("distinguish links in text by more than their colour", () => {
      const plain = [...page.matchAll(/^([^{\n]*\ba\b[^{\n]*)\{[^}]*text-decoration: none/gm)].map(([, where]) => where);
      expect(plain).to.deep.equal(["nav a, h2 a, h3 a "]);
    });

    it("link to the page and the document only, and every link has a target", () => {
      const links = [...page.matchAll(/\s(?:href|src)="([^"]*)"/g)].map(([, link = ""]) => link);
      const ids = [...page.matchAll(/\sid="([^"]*)"/g)].map(([, id = ""]) => id);
      expect(new Set(ids)).to.have.length(ids.length);
      const anchors = links.filter((link) => link !== "openapi.json");
      expect(anchors.length).to.be.greaterThan(documented.length);
      expect(ids.map((id) => `#${id}`)).to.include.members(anchors);
      expect(ids).to.include.members(documented.map(({ operation }) => operation.operationId));
    });

    it("show their input as text, never as markup", () => {
      const title = `<b onclick="x">'&amp;`;
      const odd = { ...apiDocument, info: { ...apiDocument.info, title } };
      const { html } = renderPage(odd);
      expect(html).not.to.include("<b ");
      expect(html).to.include("<title>&lt;b onclick=&quot;x&quot;&gt;&#39;&amp;amp; API</title>");
    });

    it("show every operation, parameter, status and schema, as text", () => {
      const shown = page.replace(/<[^>]+>/g, "").replaceAll("&quot;", '"').replaceAll("&#39;", "'");
      for (const { operation } of documented) expect(shown).to.include(operation.summary);
      for (const name of Object.keys(apiDocument.components.schemas).filter((name) => !name.endsWith("Request"))) {
        expect(page).to.include(`id="schema-${name}"`);
      }
      for (const name of ["Qt", "CpOrd", "DestinationUrlId", "X-Idempotency-Key"]) expect(shown).to.include(name);
      expect(shown).to.match(/^serverRateLimit\ninteger/m);
      expect(page).not.to.match(/<td class="type">(<br>|<\/td>)/);
      expect(shown).to.include("1 to 31,536,000").and.to.include('"owner@example.com"');
    });
  });
});
