import { readFileSync } from "node:fs";
import type { CommandModule } from "yargs";
import type { Difference, SnapshotFile } from "../../client/types.ts";
import { UsageError } from "../failure.ts";
import { confirmOverwrite } from "../new-files.ts";
import { print, table } from "../output.ts";
import { openSandbox, type Target, targetOptions } from "../target.ts";

type Named = Target & { name: string; file: string; before: string; after: string };

const action = (
  command: string,
  describe: string,
  handler: (options: Named) => Promise<void>,
): CommandModule<object, Named> => ({ command, describe, builder: targetOptions as never, handler });

export const snapshotCommand: CommandModule = {
  command: "snapshot",
  describe: "Keep, restore and compare a sandbox's state",
  builder: (argv) =>
    argv
      .command(
        action("save <name>", "Keep the present under a name", async (options) => {
          const saved = await (await openSandbox(options)).snapshots.save(options.name);
          print(options.json, saved, `Saved ${options.name}.`);
        }),
      )
      .command(
        action("restore <name>", "Go back to a snapshot", async (options) => {
          const state = await (await openSandbox(options)).snapshots.restore(options.name);
          print(options.json, state, `${options.sandbox} is as it was at ${options.name}.`);
        }),
      )
      .command(
        action("list", "The sandbox's snapshots", async (options) => {
          const { items, total } = await (await openSandbox(options)).snapshots.list();
          const rows = items.map(({ name, taken_at }) => [name, taken_at]);
          print(
            options.json,
            { items, total },
            rows.length === 0 ? "No snapshots." : table(["name", "taken at"], rows),
          );
        }),
      )
      .command(
        action(
          "diff <before> [after]",
          "What changed between two snapshots; `now` is the present",
          async (options) => {
            const difference = await (await openSandbox(options)).snapshots.diff(
              options.before,
              options.after ?? "now",
            );
            print(options.json, difference, differenceText(difference));
          },
        ),
      )
      .command({
        command: "export <name> <file>",
        describe: "Write a snapshot to a file",
        builder: (one) =>
          targetOptions(one).option("force", {
            type: "boolean",
            default: false,
            describe: "Replace a file that exists, without asking",
          }),
        async handler({ name, file, force, ...target }: Named & { force: boolean }) {
          const { snapshots } = await openSandbox(target);
          const write = await confirmOverwrite(file, { force, secret: true });
          write(`${JSON.stringify(await snapshots.export(name))}\n`);
          print(target.json, { file }, `Wrote ${file}.`);
        },
      } as CommandModule<object, Named & { force: boolean }>)
      .command(
        action("import <name> <file>", "Read a snapshot from a file", async (options) => {
          const saved = await (await openSandbox(options)).snapshots.import(
            options.name,
            readDocument(options.file),
          );
          print(
            options.json,
            saved,
            `Imported ${options.name}; restore it with \`snapshot restore ${options.name}\`.`,
          );
        }),
      )
      .demandCommand(1, "snapshot needs an action: save, restore, list, diff, export or import")
      .example("$0 snapshot save before-checkout", "Restore it as often as you like"),
  handler: () => {},
};

/** The server checks its contents. */
function readDocument(file: string): SnapshotFile {
  const text = readFileSync(file, "utf8");
  try {
    return JSON.parse(text) as SnapshotFile;
  } catch (error) {
    throw new UsageError(`${file}: not a snapshot: ${(error as Error).message}`);
  }
}

function differenceText({ added, removed, changed }: Difference): string {
  const lines: string[] = [];
  for (const [sign, kind] of [
    ["+", added],
    ["-", removed],
  ] as const) {
    for (const [collection, records] of Object.entries<unknown[]>(kind)) {
      for (const record of records) lines.push(`${sign} ${collection} ${recordId(record)}`);
    }
  }
  for (const [collection, records] of Object.entries(changed)) {
    for (const { id, fields } of records) {
      lines.push(`~ ${collection} ${id}`);
      for (const [name, { before, after }] of Object.entries(fields))
        lines.push(`    ${name}: ${valueText(before)} -> ${valueText(after)}`);
    }
  }
  return lines.length === 0 ? "No differences." : lines.join("\n");
}

const MAX_SHOWN = 100;

/** As JSON, which also keeps control characters from the terminal. */
function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? "null";
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

function recordId(record: unknown): string {
  const fields = record as Record<string, unknown>;
  return String(
    fields["id"] ??
      Object.entries(fields).find(([name]) => name.endsWith("_id"))?.[1] ??
      JSON.stringify(record),
  );
}
