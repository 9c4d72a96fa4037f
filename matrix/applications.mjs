// Builds the example applications, and applications of the frameworks in docs/without-a-server.md, with the packed
// tarball, and uses each in Chromium or by requests:
//   node matrix/applications.mjs [NAME ...]
import { execFile, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chromium } from "@playwright/test";
import { findBrowser } from "../scripts/browser.mjs";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/** Serves files like any file server. `missed` lists requested paths without a file. */
export async function serveFiles(folder) {
  const missed = [];
  const server = createServer(({ url }, response) => {
    const path = new URL(url, "http://x").pathname;
    try {
      const bytes = readFileSync(join(folder, path.endsWith("/") ? `${path}index.html` : path));
      response
        .setHeader("content-type", TYPES[extname(path) || ".html"] ?? "application/octet-stream")
        .end(bytes);
    } catch {
      missed.push(path);
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { origin: `http://127.0.0.1:${server.address().port}`, missed, close };
}

function requireEqual(found, expected, what) {
  const [one, other] = [found, expected].map((value) => JSON.stringify(value));
  if (one !== other) throw new Error(`${what}: ${one} instead of ${other}`);
}

/** Opens a page of a folder of static files. No request may lack a file. */
async function inPage(folder, drive) {
  const site = await serveFiles(folder);
  try {
    await withPage((opened) => drive({ ...opened, site }));
    requireEqual(site.missed, [], "requests that reached the network");
  } finally {
    site.close();
  }
}

async function withPage(drive) {
  const browser = await chromium.launch({ executablePath: await findBrowser(), args: ["--no-sandbox"] });
  try {
    const profile = await browser.newContext();
    const page = await profile.newPage();
    page.setDefaultTimeout(30_000);
    await drive({ page, profile });
  } finally {
    await browser.close();
  }
}

/** Tests the static build, then the development server. */
async function driveStorybook(project) {
  const folder = join(project, "storybook-static");
  const { entries } = JSON.parse(readFileSync(join(folder, "index.json"), "utf8"));
  const stories = Object.values(entries).filter(({ type }) => type === "story");
  requireEqual(stories.length, 10, "stories");
  await inPage(folder, ({ page, site }) => showStories(page, site.origin, stories));
  const port = await findPort();
  const child = spawn("npm", ["run", "dev", "--", "--ci", "--port", String(port)], {
    cwd: project,
    detached: true,
    stdio: "ignore",
  });
  try {
    const origin = `http://127.0.0.1:${port}`;
    await untilAnswers(() => fetch(`${origin}/index.json`));
    await withPage(({ page }) => showStories(page, origin, stories));
  } finally {
    process.kill(-child.pid);
  }
}

/** Checks that each story shows what it expects, alone and in the docs page with the others. */
async function showStories(page, origin, stories) {
  const shown = {};
  for (const { id } of stories) {
    await page.goto(`${origin}/iframe.html?id=${id}&viewMode=story`);
    await page.getByRole("status").filter({ hasText: /\.$/ }).waitFor();
    shown[id] = await page.getByRole("status").textContent();
  }
  requireEqual(new Set(Object.values(shown)).size, 10, "different outcomes");
  requireEqual(shown["move-department--moved"], "ML is now at dept_acme/dept_ops/dept_ml.", "the move");
  await page.goto(`${origin}/iframe.html?id=move-department--docs&viewMode=docs`);
  for (const { id } of stories) {
    const frame = page.frameLocator(`iframe[src*="id=${id}"]`).last();
    await frame.getByRole("status").filter({ hasText: /\.$/ }).waitFor({ timeout: 60_000 });
    requireEqual(await frame.getByRole("status").textContent(), shown[id], `${id} on the docs page`);
  }
}

/** Checks four screens, that a reload keeps the world, and that the page opens without a network. */
async function drivePreview(project) {
  const folder = join(project, "dist");
  await inPage(folder, async ({ page, profile, site }) => {
    const shows = (text) => page.getByText(text).first().waitFor();
    await page.goto(site.origin);
    const at = page.locator("[data-path='dept_acme/dept_ops/dept_ml']");
    await page.locator("[data-path='dept_acme/dept_eng/dept_ml']").waitFor();
    await page.getByRole("button", { name: "Move" }).click();
    await at.waitFor();
    await page.getByRole("combobox").nth(0).selectOption("dept_eng");
    await page.getByRole("combobox").nth(1).selectOption("dept_infra");
    await page.getByRole("button", { name: "Move" }).click();
    await shows("422 DEPARTMENT_CYCLE_DETECTED");

    await page.getByRole("link", { name: "uploads" }).click();
    const buffer = Buffer.alloc(700 * 1024, "x");
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "report.txt", mimeType: "text/plain", buffer });
    const steps = page.evaluate(
      () =>
        new Promise((resolve) => {
          const seen = [];
          new MutationObserver(() => {
            const value = document.querySelector("progress")?.value;
            if (value !== undefined && value !== seen.at(-1)) seen.push(value);
            if (value === 1) resolve(seen);
          }).observe(document.body, { subtree: true, childList: true, attributes: true });
        }),
    );
    await page.getByRole("button", { name: "Upload" }).click();
    requireEqual((await steps).length, 3, "steps of the progress");
    await shows("report.txt is file_");

    await page.getByRole("link", { name: "webhooks" }).click();
    await page.getByRole("button", { name: "Add a receiver" }).click();
    const delivery = (status, attempts) =>
      page.getByRole("row", { name: `user.created ${status} ${attempts}` }).waitFor();
    await delivery("failed", 1);
    await page.getByRole("button", { name: "next retry" }).click();
    await delivery("failed", 2);
    await page.reload();
    await delivery("failed", 2);
    await profile.setOffline(true);
    site.close();
    await page.reload();
    await page.getByRole("button", { name: "next retry" }).click();
    await delivery("success", 3);
    await page.getByRole("link", { name: "limits" }).click();
    await page.getByRole("row", { name: /Organization 850 1000/ }).waitFor();
    await page.getByRole("link", { name: "departments" }).click();
    await at.waitFor();

    await page.getByRole("button", { name: "Understudy" }).click();
    await page.getByLabel("Scenario").selectOption("usage-retrieve-limits-rate-limited");
    await page.getByRole("link", { name: "limits" }).click();
    await shows("429 RATE_LIMIT_EXCEEDED");
  });
}

const KEY = "ak_adaOwnerAcme000000000000000000000000000";

/** Starts an application on a free port and calls the API behind its routes. */
const driveRoutes = (program) => async (project) => {
  const port = await findPort();
  const env = { ...process.env, PORT: String(port), NODE_ENV: "production" };
  const child = spawn(process.execPath, program(port), { cwd: project, env, stdio: "pipe" });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
  try {
    const call = async (path, init = {}) =>
      fetch(`http://127.0.0.1:${port}/api${path}`, { ...init, headers: { "api-key": KEY, ...init.headers } });
    const first = await untilAnswers(() => call("/v1/models"));
    requireEqual(first.status, 200, "GET /v1/models");
    requireEqual((await first.json()).models.length > 0, true, "models");
    requireEqual((await call("/v1/models", { headers: { "api-key": "wrong" } })).status, 401, "a wrong key");
    const move = async (department, new_parent_id) => {
      const path = `/v1/organizations/org_acme/departments/${department}/reparent`;
      const headers = { "content-type": "application/json" };
      const answer = await call(path, { method: "POST", headers, body: JSON.stringify({ new_parent_id }) });
      return answer.status;
    };
    requireEqual([await move("dept_ops", "dept_ml"), await move("dept_ml", "dept_ops")], [200, 422], "moves");
    requireEqual((await call("/_control/health")).status, 404, "the control API");
  } catch (error) {
    throw new Error(`${error.message}\n${output}`, { cause: error });
  } finally {
    child.kill();
  }
};

/** Resolves with the first response of a starting server. @throws Error after a minute */
async function untilAnswers(call) {
  for (let tries = 0; tries < 600; tries++) {
    const answer = await call().catch(() => undefined);
    if (answer !== undefined) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the server has not answered for a minute");
}

function findPort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

const MODULE = '{"name":"app","private":true,"type":"module"}';

async function runVitest(project) {
  const args = ["node_modules/vitest/vitest.mjs", "run"];
  const env = { ...process.env, CHROME_PATH: await findBrowser() };
  for (const name of Object.keys(env)) if (/^(VITEST|TEST|npm_)/.test(name)) delete env[name];
  await run(process.execPath, args, { cwd: project, env, maxBuffer: 1e8 });
}

export const APPLICATIONS = {
  "Hono 4": {
    packages: ["hono@4.13.19", "@hono/node-server@1"],
    files: {
      "package.json": MODULE,
      "server.js": `import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { understudyRoutes } from "understudy-sandbox/fetch";
const { GET } = understudyRoutes({ basePath: "/api" });
const app = new Hono();
app.all("/api/*", (context) => GET(context.req.raw));
serve({ fetch: app.fetch, port: Number(process.env.PORT) });
`,
    },
    drive: driveRoutes(() => ["server.js"]),
  },
  "Next.js 16": {
    packages: ["next@16.4.6", "react@19.3.1", "react-dom@19.3.1"],
    files: {
      "package.json": MODULE,
      "next.config.js": 'export default { serverExternalPackages: ["understudy-sandbox"] };\n',
      "app/layout.jsx": 'export default ({ children }) => <html lang="en"><body>{children}</body></html>;\n',
      "app/page.jsx": "export default () => <h1>An application</h1>;\n",
      "app/api/[...path]/route.js": `import { understudyRoutes } from "understudy-sandbox/fetch";
export const { GET, POST, PUT, PATCH, DELETE } = understudyRoutes({ basePath: "/api" });
`,
    },
    build: ["npx", "next", "build"],
    drive: driveRoutes((port) => ["node_modules/next/dist/bin/next", "start", "-p", String(port)]),
  },
  "React Router 8": {
    packages: [
      ...["react-router", "@react-router/dev", "@react-router/node", "@react-router/serve"].map(
        (name) => `${name}@8.4.0`,
      ),
      ...["isbot@5", "react@19.3.1", "react-dom@19.3.1", "vite@8.3.8"],
    ],
    files: {
      "package.json": MODULE,
      "vite.config.js":
        'import { reactRouter } from "@react-router/dev/vite";\nexport default { plugins: [reactRouter()] };\n',
      "app/routes.js":
        'import { route } from "@react-router/dev/routes";\nexport default [route("api/*", "api.js")];\n',
      "app/root.jsx": `import { Outlet } from "react-router";
export default () => <html lang="en"><body><Outlet /></body></html>;
`,
      "app/api.js": `import { understudyRoutes } from "understudy-sandbox/fetch";
const { GET } = understudyRoutes({ basePath: "/api" });
export const loader = ({ request }) => GET(request);
export const action = loader;
`,
    },
    build: ["npx", "react-router", "build"],
    drive: driveRoutes(() => ["node_modules/@react-router/serve/bin.cjs", "build/server/index.js"]),
  },
  "Vitest 4 in a browser": {
    packages: ["vitest@4.1.12", "@vitest/browser-playwright@4.1.12", "playwright@1.65.1"],
    files: {
      "package.json": MODULE,
      "vitest.config.js": `import { playwright } from "@vitest/browser-playwright";
const provider = playwright({ launchOptions: { executablePath: process.env.CHROME_PATH } });
export default { test: { browser: { enabled: true, headless: true, provider, instances: [{ browser: "chromium" }] } } };
`,
      "engine.test.js": `import { createSandbox } from "understudy-sandbox/engine";
import { expect, test } from "vitest";
test("a sandbox of its own", async () => {
  const sandbox = await createSandbox({ seed: 7, clock: { mode: "frozen" } });
  const asDan = { headers: { "api-key": sandbox.credentials.usr_dan } };
  await sandbox.faults.add({ match: { operation: "models.list" }, effect: { error: "RATE_LIMIT_EXCEEDED" }, times: 1 });
  expect((await sandbox.fetch("/v1/models", asDan)).status).toBe(429);
  expect((await sandbox.fetch("/v1/models", asDan)).status).toBe(200);
  await sandbox.clock.advance("6h");
  await sandbox.close();
});
`,
    },
    drive: runVitest,
  },
  "Static preview": { example: "static-preview", build: ["npm", "run", "build"], drive: drivePreview },
  "Storybook 10": { example: "storybook", build: ["npm", "run", "build"], drive: driveStorybook },
};

async function install(project, tarball, packages = []) {
  const file = join(project, "package.json");
  const manifest = JSON.parse(readFileSync(file, "utf8"));
  for (const kind of ["dependencies", "devDependencies"]) delete manifest[kind]?.["understudy-sandbox"];
  writeFileSync(file, JSON.stringify(manifest));
  await npm(project, ["install", "--prefer-offline", "--no-audit", "--no-fund", tarball, ...packages]);
}

const npm = (cwd, args) => run("npm", args, { cwd, maxBuffer: 1e8 });

async function main() {
  const wanted = process.argv.slice(2);
  const folder = mkdtempSync(join(tmpdir(), "understudy-applications-"));
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: root });
  const tarball = join(
    folder,
    readdirSync(folder).find((file) => file.endsWith(".tgz")),
  );
  for (const [name, { example, files = {}, packages, build, drive }] of Object.entries(APPLICATIONS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const began = performance.now();
    const project = mkdtempSync(join(folder, "project-"));
    try {
      if (example !== undefined) cpSync(join(root, "docs/examples", example), project, { recursive: true });
      for (const [file, text] of Object.entries(files)) {
        mkdirSync(dirname(join(project, file)), { recursive: true });
        writeFileSync(join(project, file), text);
      }
      await install(project, tarball, packages);
      if (build !== undefined) await run(build[0], build.slice(1), { cwd: project, maxBuffer: 1e8 });
      await drive(project);
      console.log(`ok    ${name} (${Math.round((performance.now() - began) / 100) / 10} s)`);
    } catch (error) {
      process.exitCode = 1;
      const text = `${error.stdout ?? ""}${error.stderr ?? ""}` || String(error);
      console.log(`FAIL  ${name}\n${text.split("\n").slice(0, 60).join("\n")}`);
    }
  }
  rmSync(folder, { recursive: true, force: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
