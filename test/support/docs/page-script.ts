import typescript from "typescript-5";
import type { PageSettings } from "./page-settings.ts";
import { type Block, findBlocks } from "./pages.ts";

/** Languages of blocks (the first word of the fence). A test fails for a block of another language. */
export const BLOCK_LANGUAGES = "sh ts js html yaml json jsonc text python java php go ruby csharp".split(" ");

/** Returns the file's name if the block's first line is a comment with it: `// vite.config.ts`, `# .gitlab-ci.yml`. */
export function findFileName({ code }: Block): string | undefined {
  return /^(?:\/\/|#|<!--|<\?php \/\/) ([\w./@[\]-]+\.\w+)(?:$|[ ,:])/.exec(code.split("\n", 1)[0]!)?.[1];
}

/** Returns the script that runs or writes a block; empty for blocks that test/contract/docs.test.ts checks. */
function toStep(block: Block, index: number, testsTogether: boolean): string {
  const file = findFileName(block);
  if (file !== undefined) return toFileStep(file, block.code);
  switch (block.kind.split(" ")[0]) {
    case "sh":
      return block.code;
    case "ts":
      return toRunStep(`example-${index}`, block.code, testsTogether);
    case "python":
      return `${toFileStep(`example-${index}.py`, block.code)}python3 example-${index}.py\n`;
    default:
      return "";
  }
}

function toFileStep(file: string, code: string): string {
  const folder = file.includes("/") ? `mkdir -p '${file.slice(0, file.lastIndexOf("/"))}'\n` : "";
  return `${folder}cat > '${file}' <<'END-OF-BLOCK'\n${code}END-OF-BLOCK\n`;
}

/** Runs the code with the runner that its `test` is imported from, or as a program that ends after its last line. */
function toRunStep(name: string, code: string, testsTogether: boolean): string {
  if (/from "(understudy-sandbox\/vitest|vitest)"/.test(code)) {
    const file = `${name}.test.ts`;
    return `${toFileStep(file, code)}${testsTogether ? "" : `npx vitest run ${file}\n`}`;
  }
  if (/from "(understudy-sandbox\/playwright|@playwright\/test)"/.test(code)) {
    return `${toFileStep(`${name}.spec.ts`, code)}npx playwright test ${name}.spec.ts\n`;
  }
  const { outputText } = typescript.transpileModule(code, {
    compilerOptions: { target: typescript.ScriptTarget.ES2022, module: typescript.ModuleKind.ESNext },
  });
  return `${toFileStep(`${name}.mjs`, `${outputText}\nprocess.exit(0);\n`)}node ${name}.mjs\n`;
}

/** Returns a page as one shell script: its blocks from top to bottom. */
export function toPageScript(
  page: string,
  { before = "", after = "", replace = {}, skippedBlocks = [], testsTogether = false }: PageSettings,
): string {
  const steps = findBlocks(page).map((block, index) => {
    if (skippedBlocks.some((part) => block.code.includes(part))) return "";
    const announcement = `printf '%s\\n' '--- block ${index + 1}' >&2\n`;
    const text = toStep(block, index + 1, testsTogether);
    return text === "" ? "" : `${announcement}${text}`;
  });
  let whole = [before, ...steps, after].join("\n");
  for (const [from, to] of Object.entries(replace)) whole = whole.replaceAll(from, to);
  return whole;
}
