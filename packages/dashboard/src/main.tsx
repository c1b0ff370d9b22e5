import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createQueries } from "./api/queries.ts";
import { applyTheme, PreferencesProvider } from "./app/preferences.tsx";
import { createPages } from "./app/router.tsx";
import "./portal/code.ts";

applyTheme();
const queries = createQueries({
  signedOut: (refusal) => pages.turns.signedOut(refusal), other: (me) => pages.turns.other(me),
});
const pages = createPages(queries);
createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <PreferencesProvider>
        <RouterProvider router={pages.router} />
      </PreferencesProvider>
    </QueryClientProvider>
  </StrictMode>,
);
