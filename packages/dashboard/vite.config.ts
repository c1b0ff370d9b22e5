import react from "@vitejs/plugin-react";
import { defaultClientConditions, defineConfig } from "vite";

/** Writes the pages to the project's `build/dashboard`. Addresses in them are relative: a proxy may add a prefix. */
export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  plugins: [react({ jsxImportSource: "#shown" })],
  resolve: { conditions: ["@webhook-relay/source", ...defaultClientConditions] },
  css: { transformer: "lightningcss" },
  build: {
    outDir: "../../build/dashboard",
    emptyOutDir: true,
    // Inlined files would need `data:` in the policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: "baseline-widely-available",
  },
});
