import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isFolder } from "../documents/files.ts";
import { PROJECT_FOLDER } from "../documents/shipped-files.ts";
import { UsageError } from "./failure.ts";
import { requireOutputFile, writeNewFile } from "./write-files.ts";

interface FileOutcome {
  file: string;
  did: "created" | "updated" | "unchanged" | "left alone";
}

/** The text between the marks is ours; everything around it is the user's. */
const BLOCK = /<!-- understudy agent setup: begin\b.*?<!-- understudy agent setup: end -->/s;

const POINTER = `<!-- understudy agent setup: begin. \`understudy agent setup\` replaces the text up to the end mark. -->
## Understudy

Code that calls the AI platform's API is run and tested against a local sandbox: \`npx understudy start\`. How to use it, produce failures and find out
why a call was answered as it was: \`.agents/skills/understudy/SKILL.md\`.
<!-- understudy agent setup: end -->`;

/**
 * The places that agents read: the common folder of skills, that of Claude Code, and the page that every agent reads
 * first.
 */
const SKILL_FILES = [".agents/skills/understudy/SKILL.md", ".claude/skills/understudy/SKILL.md"];
const POINTER_FILE = "AGENTS.md";

/**
 * Writes the skill page and the pointer to it. In a file that exists, only a block that an earlier call wrote is replaced.
 * @throws UsageError
 */
export function writeAgentFiles(folder: string): FileOutcome[] {
  if (!isFolder(folder)) throw new UsageError(`there is no folder ${folder}; name your project's`);
  const skill = readFileSync(join(PROJECT_FOLDER, "docs/examples/agent/SKILL.md"), "utf8");
  // All files are checked before the first one is written.
  for (const file of [...SKILL_FILES, POINTER_FILE]) requireOutputFile(join(folder, file));
  return [
    ...SKILL_FILES.map((file) => writeBlock(folder, file, { content: skill })),
    writeBlock(folder, POINTER_FILE, { content: `${POINTER}\n`, append: true }),
  ];
}

/** @param append whether the block may be added to a file that has none */
function writeBlock(
  folder: string,
  file: string,
  { content, append = false }: { content: string; append?: boolean },
): FileOutcome {
  const path = join(folder, file);
  if (!existsSync(path)) {
    writeNewFile(path, content);
    return { file, did: "created" };
  }
  const before = readFileSync(path, "utf8");
  const [block] = BLOCK.exec(content)!;
  let after = before;
  if (BLOCK.test(before)) after = before.replace(BLOCK, () => block);
  else if (append) after = `${before.trimEnd()}\n\n${block}\n`;
  else return { file, did: "left alone" };
  if (after === before) return { file, did: "unchanged" };
  writeNewFile(path, after, { force: true });
  return { file, did: "updated" };
}
