import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { connect } from "../../src/client/index.ts";
import type { SandboxClient } from "../../src/client/sandbox.ts";
import type { RuleDefinition } from "../../src/client/types.ts";
import { see, useChromium } from "../support/browser/with-chromium.ts";
import {
  createTempFolder,
  type RunningServer,
  removeTempFolders,
  runCommand,
  startServer,
} from "../support/run-understudy.ts";

vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const SOURCE = fileURLToPath(new URL("../support/own/chat/", import.meta.url));
const DECLARED = fileURLToPath(
  new URL("../../docs/examples/service-frontend/operations.ts", import.meta.url),
);

const chromium = useChromium();
let site: http.Server;
let server: RunningServer;
let sandbox: SandboxClient;
let page: Page;
beforeAll(async () => {
  const built = createTempFolder();
  // The build runs in its own process, since vitest sets NODE_ENV to test.
  const build = `import { build } from "vite"; await build(${JSON.stringify({
    ...{ root: SOURCE, configFile: false, logLevel: "error" },
    ...{ oxc: { jsx: { runtime: "automatic" } }, build: { outDir: built, emptyOutDir: true } },
  })})`;
  execFileSync(process.execPath, ["--input-type=module", "-e", build], { stdio: "inherit" });
  site = http.createServer((request, response) => {
    const { pathname } = new URL(request.url!, "http://x");
    response.setHeader("content-type", pathname.endsWith(".js") ? "text/javascript" : "text/html");
    response.end(readFileSync(join(built, pathname === "/" ? "index.html" : pathname)));
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  server = await startServer(["--operations", DECLARED]);
});
afterAll(async () => {
  site.closeAllConnections();
  site.close();
  await server.stop();
  removeTempFolders();
});
beforeEach(async () => {
  sandbox = await connect(server.ready.url).sandbox({
    clock: { mode: "frozen", now: "2026-03-15T12:00:00.000Z" },
  });
});
afterEach(async () => {
  await page.close();
  await sandbox.delete();
});

/** Opens the application in a browser as usr_dan. */
async function open(): Promise<void> {
  const address = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  const search = new URLSearchParams({ api: sandbox.url, key: sandbox.credentials.usr_dan });
  page = await chromium().newPage();
  await page.goto(`${address}?${search}`);
}
const findThread = (title: string) => page.getByRole("list", { name: "Threads" }).getByText(title);
const write = async (label: string, text: string, verb: string) => {
  await page.getByLabel(label).fill(text);
  await page.getByRole("button", { name: verb }).click();
};

type Step = "open" | "begin" | "send";

/** The user's journey with a check of each result. After a fault, `recover` repeats the step. */
async function passSuite(recover: (step: Step) => Promise<void> = async () => {}): Promise<void> {
  await open();
  await recover("open");
  await see(page.getByRole("heading", { name: "Threads of Dan" })).toBeVisible();
  await write("New thread", "Plans", "Begin");
  await recover("begin");
  await see(findThread("Plans")).toHaveCount(1);
  await write("Message", "Hello", "Send");
  await recover("send");
  await see(page.getByRole("region", { name: "Plans" }).getByRole("listitem")).toHaveText(["Hello"]);
  await see(page.getByRole("alert")).toHaveCount(0);
}

const FAULTS: [
  operation: string,
  what: string,
  effect: RuleDefinition["effect"],
  step: Step,
  said: RegExp,
][] = [
  ["me.show", "an expired login", { error: "AUTHENTICATION_REQUIRED" }, "open", /authentication/i],
  ["threads.list", "a failing list", { error: "INTERNAL_ERROR" }, "open", /error/i],
  ["threads.create", "a rate limit", { error: "RATE_LIMIT_EXCEEDED" }, "begin", /rate limit/i],
  ["threads.create", "silence", { wire: "hang" }, "begin", /does not answer/],
  ["messages.list", "a truncated answer", { wire: "truncate" }, "begin", /cannot be read/],
  ["messages.create", "a missing thread", { error: "RESOURCE_NOT_FOUND" }, "send", /not found/i],
];

describe("a React application with user-defined operations", () => {
  it("passes its tests [interfaces 18]", async () => {
    await passSuite();
    const { items } = await sandbox.state("messages").list({ content: "Hello" } as object);
    expect(items).toMatchObject([{ role: "user", content: "Hello" }]);
  });

  it.each(FAULTS)(
    "passes its tests if %s meets %s [interfaces 18]",
    async (operation, _, effect, step, said) => {
      await sandbox.faults.add({ match: { operation: operation as never }, times: 1, effect });
      await passSuite(async (present) => {
        if (present !== step) return;
        const alert = page.getByRole("alert");
        await see(alert).toContainText(said);
        await alert.getByRole("button", { name: "Try again" }).click();
      });
      expect((await sandbox.faults.list()).items).toMatchObject([{ hits: 1 }]);
      expect((await sandbox.state("threads").list({ title: "Plans" })).total).toBe(1);
    },
  );

  it("shows the earlier state after a rewind [interfaces 10]", async () => {
    await passSuite();
    const { entries } = await sandbox.history.list();
    const posted = entries.find(({ title }) => /message/i.test(title))!;
    await sandbox.history.rewind(posted.id, "before");
    expect((await sandbox.state("messages").list({ content: "Hello" })).total).toBe(0);
    await page.reload();
    await findThread("Plans").click();
    await see(page.getByRole("region", { name: "Plans" })).toBeVisible();
    await see(page.getByRole("region", { name: "Plans" }).getByRole("listitem")).toHaveCount(0);
    await write("Message", "Again", "Send");
    await see(page.getByRole("region", { name: "Plans" }).getByRole("listitem")).toHaveText(["Again"]);
  });

  it("can be saved as a bundle that another server replays only with the same file [interfaces 4]", async () => {
    await sandbox.faults.add({
      match: { operation: "messages.create" as never },
      times: 1,
      effect: { error: "RATE_LIMIT_EXCEEDED" },
    });
    await open();
    await write("New thread", "Plans", "Begin");
    await write("Message", "Hello", "Send");
    await page.getByRole("alert").getByRole("button", { name: "Try again" }).click();
    await see(page.getByRole("region", { name: "Plans" }).getByRole("listitem")).toHaveText(["Hello"]);
    const file = join(createTempFolder(), "chat.json");
    const taken = await runCommand(["bundle", file, "--url", server.ready.url, "--sandbox", sandbox.name]);
    expect(taken.code, taken.stderr).toBe(0);
    expect((await runCommand(["replay", file])).stderr).toContain("The bundle needs the operations of");
    const replayed = await runCommand(["replay", file, "--operations", DECLARED, "--json"]);
    expect(replayed.code, replayed.stdout + replayed.stderr).toBe(0);
    expect(JSON.parse(replayed.stdout)).toMatchObject({ requests: expect.any(Number) });
  });
});
