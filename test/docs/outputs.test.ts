import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { type Block, findBlocks, listPages } from "../support/docs/pages.ts";
import { startReference } from "../support/harness.ts";
import { createTempFolder, removeTempFolders, runCommand, startServer } from "../support/run-understudy.ts";

/* Output of commands in the docs must equal what the commands print. */

const FIXTURE = `extends: reference
departments:
  dept_archive: null
  dept_ops: null
  dept_new: { name: New, parent_id: dept_acmee }
`;
const SCENARIO = `name: flaky
rules:
  - id: one
    match: { operation: file.register }
    effect: { status: 503 }
`;

const UPLOADER = fileURLToPath(new URL("../../docs/examples/report-uploader/", import.meta.url));

const runCheck = (command: "fixture" | "scenario", file: string, text: string) => async () => {
  const cwd = createTempFolder();
  writeFileSync(join(cwd, file), text);
  const { code, stdout, stderr } = await runCommand([command, "check", file], { cwd });
  expect(code).toBe(1);
  return stdout + stderr;
};

/** By page: prints what the page's \`text\` blocks show. */
const PRINTED: Record<string, () => Promise<string>> = {
  "README.md": async () => {
    const server = await startServer();
    const { stdout } = await server.stop();
    return stdout.replaceAll(server.ready.url, "http://127.0.0.1:4747");
  },
  "docs/client-test.md": async () => {
    const application = ["upload-report.mjs", "report.csv"].map((name) => join(UPLOADER, name));
    const { code, stdout } = await runCommand(["client-test", "--", process.execPath, ...application]);
    expect(code).toBe(0);
    return stdout;
  },
  "docs/fixtures.md": runCheck("fixture", "my.yaml", FIXTURE),
  "docs/scenarios.md": runCheck("scenario", "flaky.yaml", SCENARIO),
};

afterAll(removeTempFolders);

/** Parses the JSON documents of a block. There may be several, with comments in between. */
function parseDocuments({ kind, code }: Block): unknown[] {
  const parts = kind === "jsonc" ? code.split(/^\/\/.*$/m).filter((part) => part.trim() !== "") : [code];
  return parts.map((part) => JSON.parse(part));
}

describe("an answer shown in the docs", () => {
  const shown = listPages()
    .flatMap(findBlocks)
    .filter(({ kind }) => /^jsonc?$/.test(kind));
  const parsePage = (page: string) => shown.filter((block) => block.page === page).flatMap(parseDocuments);

  it("is valid JSON [interfaces 4]", () => {
    for (const block of shown)
      expect(() => parseDocuments(block), `${block.page}: ${block.code}`).not.toThrow();
  });

  it("is as the server answers, for the envelopes and the problem [7]", async () => {
    const api = await startReference();
    const patch = { settings: { previw: "on" } };
    const problem = await api.call(undefined, "PATCH", "/_control/sandboxes/default", patch);
    const a = await api.call("dan", "GET", "/v1/music/org_acme/collections/mcoll_dan/tracks?limit=0");
    const b = await api.call("dan", "DELETE", "/v1/threads/thread_none");
    const c = await api.call(undefined, "POST", "/v1/auth/token");
    await api.close();
    const [envelopeA, envelopeB, envelopeC, shownProblem] = parsePage("docs/errors-and-limits.md");
    expect(shownProblem).toEqual(problem.body);
    expect(toShape(envelopeA)).toEqual(toShape(a.body));
    expect(toShape(envelopeB)).toEqual(toShape(b.body));
    expect(toShape(envelopeC)).toEqual(toShape(c.body));
  });

  it("is as sent, for the event [6.2]", async () => {
    const api = await startReference();
    const { body: receiver } = await api.call(undefined, "POST", "/_control/sandboxes/default/receivers");
    await api.call("ada", "POST", "/webhooks", { url: receiver.url, events: ["user.created"] });
    await api.call(undefined, "POST", "/_control/sandboxes/default/events", { event: "user.created" });
    const requests = `/_control/sandboxes/default/receivers/${receiver.id}/requests`;
    const { body } = await api.call(undefined, "GET", requests);
    await api.close();
    expect(toShape(parsePage("docs/webhooks.md")[0])).toEqual(toShape(JSON.parse(body.items[0].body)));
  });
});

/** Replaces values by their shape: the keys of objects in order, at all depths. */
function toShape(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.entries(value).map(([key, inner]) => [key, toShape(inner)]);
}

describe("an output shown in the docs", () => {
  const shown = listPages()
    .flatMap(findBlocks)
    .filter(({ kind }) => kind === "text");

  it("is in the list of pages with what prints it [interfaces 2]", () => {
    expect([...new Set(shown.map(({ page }) => page))].sort()).toEqual(Object.keys(PRINTED).sort());
  });

  it.each(Object.keys(PRINTED))(
    "is what is printed: %s [interfaces 2]",
    { timeout: 60_000 },
    async (page) => {
      const printed = (await PRINTED[page]!()).split("\n").map((line) => line.trimEnd());
      for (const { code } of shown.filter((block) => block.page === page)) {
        const lines = code.split("\n").filter((line) => line.trim() !== "");
        const places = lines.map((line) => printed.indexOf(line.trimEnd()));
        expect(lines.filter((_, index) => places[index] === -1)).toEqual([]);
        expect(places).toEqual(places.toSorted((a, b) => a - b));
      }
    },
  );
});
