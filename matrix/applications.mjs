// Builds the example applications, and applications of the frameworks that docs/without-a-server.md names, with the packed
// tarball, and drives each in Chromium or by requests:
//   node matrix/applications.mjs [NAME ...]
import { execFile } from "node:child_process";
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

/** Serves files as any file server does. `missed` are the paths that it does not have. */
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

/** Opens a page over a folder of static files; no request of it may lack a file. */
async function inPage(folder, drive) {
  const site = await serveFiles(folder);
  const browser = await chromium.launch({ executablePath: await findBrowser(), args: ["--no-sandbox"] });
  try {
    const profile = await browser.newContext();
    const page = await profile.newPage();
    page.setDefaultTimeout(30_000);
    await drive({ page, profile, site });
    requireEqual(site.missed, [], "requests that reached the network");
  } finally {
    await browser.close();
    site.close();
  }
}

/** Every story shows what it expects, alone and among the others of the docs page. */
async function driveStorybook(project) {
  const folder = join(project, "storybook-static");
  const { entries } = JSON.parse(readFileSync(join(folder, "index.json"), "utf8"));
  const stories = Object.values(entries).filter(({ type }) => type === "story");
  requireEqual(stories.length, 10, "stories");
  await inPage(folder, async ({ page, site }) => {
    const shown = {};
    for (const { id } of stories) {
      await page.goto(`${site.origin}/iframe.html?id=${id}&viewMode=story`);
      await page.getByRole("status").filter({ hasText: /\.$/ }).waitFor();
      shown[id] = await page.getByRole("status").textContent();
    }
    requireEqual(new Set(Object.values(shown)).size, 10, "different outcomes");
    requireEqual(shown["move-department--moved"], "ML is now at dept_acme/dept_ops/dept_ml.", "the move");
    await page.goto(`${site.origin}/iframe.html?id=move-department--docs&viewMode=docs`);
    for (const { id } of stories) {
      const frame = page.frameLocator(`iframe[src*="id=${id}"]`).last();
      await frame.getByRole("status").filter({ hasText: /\.$/ }).waitFor({ timeout: 60_000 });
      requireEqual(await frame.getByRole("status").textContent(), shown[id], `${id} on the docs page`);
    }
  });
}

/** Four screens; a reload keeps the world, and the page opens without a network. */
export async function drivePreview(project) {
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

export const APPLICATIONS = {
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
