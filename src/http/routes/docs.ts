import { apiDocument } from "../openapi/document.ts";
import { renderPage } from "../openapi/page/page.ts";
import type { Route } from "../route.ts";

/** The description of the API for people, made once. */
export function docsRoutes(): Route[] {
  const { html, styleHash } = renderPage(apiDocument);
  const text = Buffer.from(html);
  const none = ["default-src", "base-uri", "form-action", "frame-ancestors"].map((kind) => `${kind} 'none'`);
  const policy = [...none, `style-src '${styleHash}'`].join("; ");
  return [
    {
      method: "GET",
      path: "/docs",
      run: async () => ({
        status: 200, text, type: "text/html; charset=utf-8", headers: { "Content-Security-Policy": policy },
      }),
    },
  ];
}
