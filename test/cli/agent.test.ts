import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import {
  createTempFolder,
  type RunningServer,
  removeTempFolders,
  runCommand,
  startServer,
} from "../support/run-understudy.ts";

const SKILL = ".agents/skills/understudy/SKILL.md";
const FILES = [SKILL, ".claude/skills/understudy/SKILL.md", "AGENTS.md"];
let running: RunningServer | undefined;
afterEach(() => running?.stop());
afterAll(removeTempFolders);

const read = (folder: string, file: string) => readFileSync(join(folder, file), "utf8");

async function setUp(folder: string): Promise<Record<string, string>> {
  const { code, stdout } = await runCommand(["agent", "setup", folder, "--json"]);
  expect(code).toBe(0);
  const { files } = JSON.parse(stdout) as { files: { file: string; did: string }[] };
  return Object.fromEntries(files.map(({ file, did }) => [file, did]));
}

describe("agent setup", () => {
  it("writes a skill in the folder of each agent, with a header that agents can read [interfaces 13]", async () => {
    const folder = createTempFolder();
    expect(await setUp(folder)).toEqual(Object.fromEntries(FILES.map((file) => [file, "created"])));
    const [, header = ""] = read(folder, SKILL).split("---\n");
    const { name, description } = parse(header);
    // By the standard, the name equals the folder's name, and the description has at most 1,024 characters.
    expect(name).toBe("understudy");
    expect(description.length).toBeLessThan(1024);
    expect(read(folder, "AGENTS.md")).toContain(SKILL);
    expect(await setUp(folder)).toEqual(Object.fromEntries(FILES.map((file) => [file, "unchanged"])));
  });

  it("keeps a user's text, and replaces only its own [interfaces 13]", async () => {
    const folder = createTempFolder();
    mkdirSync(join(folder, ".claude/skills/understudy"), { recursive: true });
    writeFileSync(join(folder, FILES[1]!), "mine\n");
    writeFileSync(join(folder, "AGENTS.md"), "# Ours\n\nUse $& tabs.\n");
    expect(await setUp(folder)).toEqual({
      [SKILL]: "created",
      [FILES[1]!]: "left alone",
      "AGENTS.md": "updated",
    });
    expect(read(folder, FILES[1]!)).toBe("mine\n");
    const written = read(folder, "AGENTS.md");
    expect(written).toMatch(/^# Ours\n\nUse \$& tabs\.\n\n<!-- understudy/);
    const changed = `${written.replace("local sandbox", "remote sandbox")}\n## After\n`;
    writeFileSync(join(folder, "AGENTS.md"), changed);
    expect((await setUp(folder))["AGENTS.md"]).toBe("updated");
    expect(read(folder, "AGENTS.md")).toBe(`${written}\n## After\n`);
  });

  it("refuses a missing folder, or a file in its place, as wrong usage, and writes nothing [interfaces 2]", async () => {
    const folder = createTempFolder();
    expect(await runCommand(["agent", "setup", join(folder, "none")])).toMatchObject({ code: 2 });
    mkdirSync(join(folder, "AGENTS.md"));
    const { code, stderr } = await runCommand(["agent", "setup", folder]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("AGENTS.md is a folder")]);
    expect(() => read(folder, SKILL)).toThrow();
  });

  it("writes commands that run, and a key that works [interfaces 13]", async () => {
    const folder = createTempFolder();
    await setUp(folder);
    const page = read(folder, SKILL);
    const [, block = ""] = /```sh\n(.*?)```/s.exec(page) ?? [];
    const lines = block
      .trim()
      .split("\n")
      .map((line) => line.split("#")[0]!.trim());
    expect(lines).toHaveLength(10);
    running = await startServer();
    const env = { UNDERSTUDY_URL: running.ready.url };
    for (const line of lines.slice(1)) {
      const words = line.split(" ").slice(2);
      expect({ line, code: (await runCommand(words, { env })).code }).toEqual({ line, code: 0 });
    }
    const [key] = page.match(/ak_\w+/)!;
    const { status } = await fetch(`${running.ready.url}/v1/models`, { headers: { "api-key": key } });
    expect(status).toBe(200);
  });
});
