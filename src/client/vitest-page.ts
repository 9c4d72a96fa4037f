/**
 * `understudy-sandbox/vitest` for a bundler that builds for browsers. In a page it fails at once, since a page cannot
 * start a server; Node gets here too if a project resolves for browsers, as some do for jsdom.
 */
const isNode = typeof process === "object" && process.versions?.node !== undefined;
if (!isNode)
  throw new Error(
    "understudy-sandbox/vitest starts a server, which a page cannot do. Run this file in another pool than the browser " +
      "(threads, forks, vmThreads or vmForks), or start a server with `understudy start`, and create a sandbox in " +
      "each test with connect() of understudy-sandbox/client.",
  );

// The address is computed, so that no bundler includes the server in a page.
const { test, expect }: typeof import("./vitest.ts") = await import(
  /* @vite-ignore */ new URL("./vitest.js", import.meta.url).href
);

export { expect, test };
