import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import yargs, { type Argv, type CommandModule } from "yargs";
import { ROOT } from "./pages.ts";

export interface Command {
  /** For example `["clock", "advance"]`. */
  path: string[];
  options: string[];
}

/** Parts of yargs that its types leave out. They are set after a builder has run. */
interface ParserInternals extends Argv {
  getOptions(): { key: Record<string, unknown> };
  getInternalMethods(): {
    getCommandInstance(): { handlers: Record<string, { original: string; builder: unknown }> };
  };
}

/** Lists all commands with their actions and options, as the files in src/cli declare them. */
export async function listCommands(): Promise<Command[]> {
  const folder = join(ROOT, "src", "cli", "commands");
  const found: Command[] = [];
  for (const file of readdirSync(folder).filter((name) => /^[a-z-]+\.ts$/.test(name))) {
    const exported: Record<string, unknown> = await import(pathToFileURL(join(folder, file)).href);
    for (const module of Object.values(exported)) {
      if (typeof module !== "object" || module === null || !("command" in module)) continue;
      const { command, builder } = module as CommandModule;
      found.push(...describeCommand([], String([command].flat()[0]), builder));
    }
  }
  return found;
}

/** `written` is the command in yargs' syntax, such as `receiver-test <endpoint>`. */
function describeCommand(parentPath: readonly string[], written: string, builder: unknown): Command[] {
  const parser = yargs([]) as unknown as ParserInternals;
  if (typeof builder === "function") builder(parser);
  const [name = "", ...operands] = written.split(" ");
  const path = [...parentPath, name];
  // yargs lists operands among the options.
  const ignored = new Set(["help", "version", ...operands.map((word) => word.replace(/[<>[\].]/g, ""))]);
  const options = Object.keys(parser.getOptions().key).filter((option) => !ignored.has(option));
  const { handlers } = parser.getInternalMethods().getCommandInstance();
  const actions = Object.values(handlers).flatMap(({ original, builder: inner }) =>
    describeCommand(path, original, inner),
  );
  return [{ path, options }, ...actions];
}
