import { json } from "../answers/send.ts";
import { createDocument } from "../openapi/document.ts";
import { renderPage } from "../openapi/page/page.ts";
import { wantsPage } from "../pages/pages.ts";
import { open, type Operation, type Route } from "../route.ts";

/**
 * The description of the API, its own routes included, made when it is first asked for: for machines, for people, and
 * where to find it. A browser at the relay's own address is sent to the dashboard, where there is one.
 */
export function docsRoutes(others: readonly Operation[], { hasPages }: { readonly hasPages: boolean }): Route[] {
  const pointer = "a webhook relay; its API is described at /docs, for machines at /openapi.json";
  const document = once(() => createDocument([...others, ...routes]));
  const forMachines = once(() => Buffer.from(JSON.stringify(document())));
  const forPeople = once(() => {
    const { html, styleHash } = renderPage(document());
    const none = ["default-src", "base-uri", "form-action", "frame-ancestors"].map((kind) => `${kind} 'none'`);
    return { text: Buffer.from(html), policy: [...none, `style-src '${styleHash}'`].join("; ") };
  });
  const routes: Route[] = [
    open("GET", "/openapi.json", async () => ({ status: 200, text: forMachines(), type: json })),
    open("GET", "/", async ({ headers }) => hasPages && wantsPage(headers)
      ? { status: 302, text: "see app/", headers: { Location: "/app/" } }
      : { status: 200, text: pointer }),
    open("GET", "/docs", async () => {
      const { text, policy } = forPeople();
      return { status: 200, text, type: "text/html; charset=utf-8", headers: { "Content-Security-Policy": policy } };
    }),
  ];
  return routes;
}

/** A value that is made when it is first asked for. */
function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
