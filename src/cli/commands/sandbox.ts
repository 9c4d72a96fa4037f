import type { SandboxClient } from "../../client/sandbox.ts";
import type { ScenarioName } from "../../client/types.ts";
import { toShellWord } from "../../engine/contract/text.ts";
import {
  FORCE,
  flag,
  group,
  NO_SANDBOX,
  number,
  readFixture,
  readTypedValues,
  sandboxCommand,
  serverCommand,
  text,
  texts,
} from "../command.ts";
import { formatTable } from "../process.ts";
import { CLOCK } from "../start-flags.ts";
import { toClockChange } from "../start-options.ts";
import { requireOutputFile, writeNewFile } from "../write-files.ts";

const list = serverCommand({
  command: "list",
  describe: "List all sandboxes of the server",
  options: NO_SANDBOX,
  async run(_given, server) {
    const items = await server.list();
    const rows = items.map(({ name, fixture, clock, scenarios, base_url }) => [
      name,
      fixture,
      clock.mode,
      scenarios.join(", "),
      base_url,
    ]);
    const text = formatTable(["name", "fixture", "clock", "scenarios", "base URL"], rows);
    return { value: { items, total: items.length }, text };
  },
});

const create = serverCommand({
  command: "create [name]",
  describe: "Create a sandbox; the name is generated if it is left out",
  options: {
    ...NO_SANDBOX,
    fixture: text("Initial data: name or file of a fixture"),
    seed: number("Seed of all generated ids and text"),
    clock: text(CLOCK),
    scenario: texts("Scenario that is active from the start; repeatable"),
    setting: texts("A setting, as NAME=VALUE; repeatable"),
    origin: flag("Open a port that serves this sandbox alone, for clients that drop a base URL's path"),
  },
  examples: [["$0 sandbox create ci-42 --clock frozen", "Its base URL ends in /_s/ci-42"]],
  toOptionName(inputField) {
    if (inputField.startsWith("clock.")) return "--clock";
    return inputField.startsWith("settings.") ? inputField.replace("settings.", "--setting ") : undefined;
  },
  async run({ name, fixture, seed, clock, scenario, setting, origin }, server) {
    const created = await server.sandbox({
      name,
      fixture: await readFixture(fixture),
      seed,
      origin: origin || undefined,
      clock: toClockChange(clock),
      // The server refuses unknown scenarios, and suggests the nearest.
      scenarios: scenario as ScenarioName[] | undefined,
      settings: setting && readTypedValues("--setting", setting),
    });
    return describeSandbox(created);
  },
});

const remove = serverCommand({
  command: "delete <name>",
  describe: "Delete a sandbox; `default`, which always exists, is reset instead",
  options: NO_SANDBOX,
  async run({ name }, server) {
    await (await server.open(name)).delete();
    return name === "default"
      ? { value: { reset: name }, text: "default was reset to its initial state." }
      : { value: { deleted: name }, text: `Deleted ${name}.` };
  },
});

const fork = serverCommand({
  command: "fork <source> <name>",
  describe: "Create a second sandbox with the same state",
  options: NO_SANDBOX,
  run: async ({ source, name }, server) => describeSandbox(await server.fork(source, name)),
});

const exportFile = sandboxCommand({
  command: "export <file>",
  describe: "Write everything of a sandbox to one file, for `understudy open` and `understudy viewer`",
  args: { file: "The file to write, such as failed.understudy" },
  options: FORCE,
  examples: [
    [
      "$0 sandbox export failed.understudy --sandbox ci-42",
      "Open it with: understudy open failed.understudy",
    ],
  ],
  async run({ file, force }, sandbox) {
    requireOutputFile(file, force);
    const bytes = await sandbox.export();
    writeNewFile(file, bytes, { force });
    return {
      value: { file, bytes: bytes.length },
      text: `Wrote ${file}: ${Math.ceil(bytes.length / 1024)} KB. Open it with \`understudy open ${toShellWord(file)}\`.`,
    };
  },
});

async function describeSandbox(sandbox: SandboxClient) {
  const state = await sandbox.info();
  return { value: state, text: `${state.name} is at ${state.origin ?? state.base_url}` };
}

export const sandboxCommands = group(
  "sandbox",
  "Create, list, fork, export and delete sandboxes, each with its own world",
  [list, create, remove, fork, exportFile],
  ["$0 sandbox fork default before-upgrade", "Try something in a copy"],
);
