import type { Difference, SnapshotFile } from "../../client/types.ts";
import { readUserText } from "../../documents/files.ts";
import { clip } from "../../engine/contract/text.ts";
import { FORCE, group, sandboxCommand } from "../command.ts";
import { runOrThrowUsageError } from "../failure.ts";
import { formatTable } from "../process.ts";
import { requireOutputFile, writeNewFile } from "../write-files.ts";

const save = sandboxCommand({
  command: "save <name>",
  describe: "Save the sandbox's state under a name",
  run: async ({ name }, { snapshots }) => ({ value: await snapshots.save(name), text: `Saved ${name}.` }),
});

const restore = sandboxCommand({
  command: "restore <name>",
  describe: "Restore a snapshot",
  run: async ({ name, sandbox }, { snapshots }) => ({
    value: await snapshots.restore(name),
    text: `${sandbox} is as it was at ${name}.`,
  }),
});

const list = sandboxCommand({
  command: "list",
  describe: "List the sandbox's snapshots",
  async run(_given, { snapshots }) {
    const { items, total } = await snapshots.list();
    const rows = items.map(({ name, taken_at }) => [name, taken_at]);
    const text = total === 0 ? "No snapshots." : formatTable(["name", "taken at"], rows);
    return { value: { items, total }, text };
  },
});

const diff = sandboxCommand({
  command: "diff <before> [after]",
  describe: "Compare a snapshot with another one, or with the current state (`now`, the default)",
  async run({ before, after = "now" }, { snapshots }) {
    const difference = await snapshots.diff(before, after);
    return { value: difference, text: formatDifference(difference) };
  },
});

const exportFile = sandboxCommand({
  command: "export <name> <file>",
  describe: "Write a snapshot to a file",
  options: FORCE,
  async run({ name, file, force }, { snapshots }) {
    requireOutputFile(file, force);
    writeNewFile(file, `${JSON.stringify(await snapshots.export(name))}\n`, { force, isSecret: true });
    return { value: { file }, text: `Wrote ${file}.` };
  },
});

const importFile = sandboxCommand({
  command: "import <name> <file>",
  describe: "Read a snapshot from a file",
  run: async ({ name, file }, { snapshots }) => ({
    value: await snapshots.import(name, readSnapshotFile(file)),
    text: `Imported ${name}; restore it with \`snapshot restore ${name}\`.`,
  }),
});

export const snapshotCommand = group(
  "snapshot",
  "Save, restore and compare a sandbox's state",
  [save, restore, list, diff, exportFile, importFile],
  ["$0 snapshot save before-checkout", "Restore it any number of times"],
);

/** The server checks its contents. */
function readSnapshotFile(file: string): SnapshotFile {
  const text = runOrThrowUsageError(`cannot read ${file}`, () => readUserText(file));
  return runOrThrowUsageError(`${file}: not a snapshot`, () => JSON.parse(text) as SnapshotFile);
}

function formatDifference({ added, removed, changed }: Difference): string {
  const listRecords = (sign: string, kind: Difference["added"]) =>
    Object.entries<unknown[]>(kind).flatMap(([collection, records]) =>
      records.map((record) => `${sign} ${collection} ${findRecordId(record)}`),
    );
  const lines = [...listRecords("+", added), ...listRecords("-", removed)];
  for (const [collection, records] of Object.entries(changed)) {
    for (const { id, fields } of records) {
      lines.push(`~ ${collection} ${id}`);
      for (const [name, { before, after }] of Object.entries(fields))
        lines.push(`    ${name}: ${formatJsonValue(before)} -> ${formatJsonValue(after)}`);
    }
  }
  return lines.length === 0 ? "No differences." : lines.join("\n");
}

/** Formats the value as JSON, which also keeps control characters from the terminal. */
function formatJsonValue(value: unknown): string {
  return clip(JSON.stringify(value) ?? "null", 100);
}

function findRecordId(record: unknown): string {
  const fields = Object.entries(record as Record<string, unknown>);
  const [, id] =
    fields.find(([name]) => name === "id") ?? fields.find(([name]) => name.endsWith("_id")) ?? [];
  return String(id ?? JSON.stringify(record));
}
