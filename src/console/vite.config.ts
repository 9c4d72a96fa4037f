import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));

// `npx vite src/console` serves the sources with hot reload and proxies the API calls to a server on port 4747.
export default defineConfig({
  root: here,
  base: "/_console/",
  // The static viewer may be below any path.
  experimental: {
    renderBuiltUrl: (name, { hostType }) => (hostType === "js" ? { relative: true } : `/_console/${name}`),
  },
  // The content security policy forbids inline scripts and other hosts.
  build: {
    outDir: fileURLToPath(new URL("../../dist/console", import.meta.url)),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    reportCompressedSize: false,
    manifest: "manifest.json",
    // One style sheet, and one chunk for the code that views share.
    cssCodeSplit: false,
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: "shared", minShareCount: 2 }] } },
      // "use client" directives matter only to server rendering.
      onLog: (level, log, otherwise) => {
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") otherwise(level, log);
      },
    },
  },
  server: { proxy: { "^/_(control|s)/": "http://127.0.0.1:4747" } },
});
