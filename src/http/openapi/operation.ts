import { file } from "../../kernel/operations/description.ts";
import { open, type Operation } from "../../kernel/operations/operation.ts";
import { json } from "../answers/send.ts";
import { wantsPage } from "../pages/pages.ts";
import { createDocument } from "./document.ts";
import { renderPage } from "./page/page.ts";

const shared = { tag: "Operation", standsAlone: true } as const;

/** The operations that describe the API; `/` sends a browser to the dashboard, if there is one. */
export function docsOperations(
  others: readonly Operation[], { hasPages }: { readonly hasPages: boolean },
): Operation[] {
  const pointer = "a webhook relay; its API is described at /docs, for machines at /openapi.json";
  const document = once(() => createDocument([...others, ...own]));
  const forMachines = once(() => Buffer.from(JSON.stringify(document())));
  const forPeople = once(() => {
    const { html, styleHash } = renderPage(document());
    const none = ["default-src", "base-uri", "form-action", "frame-ancestors"].map((kind) => `${kind} 'none'`);
    return { text: Buffer.from(html), policy: [...none, `style-src '${styleHash}'`].join("; ") };
  });
  const own: Operation[] = [
    open({
      ...shared,
      id: "getOpenapiDocument",
      route: "GET /openapi.json",
      summary: "This description, for machines",
      answers: { 200: file("application/json", "OpenAPI 3.1.", { type: "object", additionalProperties: true }) },
    }, async () => ({ status: 200, text: forMachines(), type: json })),
    open({
      ...shared,
      id: "getRoot",
      route: "GET /",
      summary: "Where the API is described",
      answers: {
        200: file("text/plain", "A line that names the paths."),
        302: {
          ...file("text/plain", "To a browser, which asks for `text/html`: the dashboard is at `/app/`."),
          headers: { Location: { required: true, schema: { type: "string", enum: ["/app/"] } } },
        },
      },
    }, async ({ headers }) => hasPages && wantsPage(headers)
      ? { status: 302, text: "see app/", headers: { Location: "/app/" } }
      : { status: 200, text: pointer }),
    open({
      ...shared,
      id: "getDocs",
      route: "GET /docs",
      summary: "This description, for people",
      answers: { 200: file("text/html", "One page that needs nothing else.") },
    }, async () => {
      const { text, policy } = forPeople();
      return { status: 200, text, type: "text/html; charset=utf-8", headers: { "Content-Security-Policy": policy } };
    }),
  ];
  return own;
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
