import { apiDocument } from "../openapi/document.ts";
import { renderPage } from "../openapi/page/page.ts";
import type { Route } from "../route.ts";

/** The description of the API for people, made once, and where to find it. */
export function docsRoutes(): Route[] {
  const { html, styleHash } = renderPage(apiDocument);
  const text = Buffer.from(html);
  const none = ["default-src", "base-uri", "form-action", "frame-ancestors"].map((kind) => `${kind} 'none'`);
  const policy = [...none, `style-src '${styleHash}'`].join("; ");
  const pointer = "a webhook relay; its API is described at /docs, for machines at /openapi.json";
  return [
    { method: "GET", path: "/", run: async () => ({ status: 200, text: pointer }) },
    {
      method: "GET",
      path: "/docs",
      run: async () => ({
        status: 200, text, type: "text/html; charset=utf-8", headers: { "Content-Security-Policy": policy },
      }),
    },
  ];
}
