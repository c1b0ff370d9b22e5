import react from "@vitejs/plugin-react";
import { defaultClientConditions, defineConfig } from "vite";

const firstLibraries = /node_modules\/(?:react|react-dom|scheduler|use-sync-external-store|@tanstack)\//;

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
    // In one file the libraries of the first load compress better than in several.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "libraries", test: firstLibraries }] } } },
  },
});
