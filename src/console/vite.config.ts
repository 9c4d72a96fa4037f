import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));

// `npx vite src/console` serves the sources with what changes replaced at once; the control API is that of a
// server on the usual port.
export default defineConfig({
  root: here,
  base: "/_console/",
  // The policy forbids inline scripts, and the page has no other host to load anything from.
  build: {
    outDir: fileURLToPath(new URL("../../dist/console", import.meta.url)),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    reportCompressedSize: false,
    manifest: "manifest.json",
    // One sheet, and one file for what several views share: they are few and small, and so is the package.
    cssCodeSplit: false,
    // Libraries say "use client", for servers that draw; there is none here.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: "shared", minShareCount: 2 }] } },
      onLog: (level, log, otherwise) => {
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") otherwise(level, log);
      },
    },
  },
  server: { proxy: { "/_control": "http://127.0.0.1:4747" } },
});
