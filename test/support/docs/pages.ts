import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** Lists all Markdown pages for users, as paths from the root. */
export function listPages(): string[] {
  const inDocs = (readdirSync(join(ROOT, "docs"), { recursive: true }) as string[])
    .filter((file) => file.endsWith(".md"))
    .map((file) => join("docs", file));
  return ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", join("bench", "README.md"), ...inDocs].filter(
    (file) => existsSync(join(ROOT, file)),
  );
}

export function readPage(page: string): string {
  return readFileSync(join(ROOT, page), "utf8");
}

export interface Block {
  page: string;
  /** The whole info string of the fence, such as `yaml scenario`. */
  kind: string;
  code: string;
}

export function findBlocks(page: string): Block[] {
  return [...readPage(page).matchAll(/^```(\S[^\n]*)\n(.*?)^```$/gms)].map(([, kind, code]) => ({
    page,
    kind: kind!.trim(),
    code: code!,
  }));
}

/** Returns a page without its code blocks, since `#` and brackets have another meaning there. */
function readProse(page: string): string {
  return readPage(page).replace(/^```.*?^```$/gms, "");
}

/** Lists the anchors of a page: GitHub's (lower case, without punctuation, spaces as hyphens) and explicit ones. */
function findAnchors(page: string): Set<string> {
  return new Set([
    ...[...readProse(page).matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id!),
    ...[...readProse(page).matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
      title!
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  ]);
}

/** Lists links of a page that have no target in this repository. */
export function findDeadLinks(page: string): string[] {
  const links = [...readProse(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
  return links.filter((target) => {
    if (/^[a-z]+:/.test(target)) return false;
    const [path = "", anchor] = target.split("#");
    const file = path === "" ? join(ROOT, page) : resolve(ROOT, dirname(page), path);
    if (!existsSync(file)) return true;
    return anchor !== undefined && !findAnchors(relative(ROOT, file)).has(anchor);
  });
}

/** Lists the repository's files that a page links to, as paths from the root. */
export function findLinkedFiles(page: string): string[] {
  const targets = [...readProse(page).matchAll(/\]\(([^)\s#]+)/g)].map(([, target]) => target!);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => relative(ROOT, resolve(ROOT, dirname(page), target)));
}

/** Returns the cells of each table row. */
export function readTableRows(page: string): string[][] {
  return readPage(page)
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** Lists all code spans, without the backticks. */
export function findTerms(page: string): Set<string> {
  return new Set([...readProse(page).matchAll(/`([^`\n]+)`/g)].map(([, term]) => term!));
}

/** Lists the words in code spans: `{ id, role }` has two. */
export function findWords(page: string): Set<string> {
  return new Set([...findTerms(page)].flatMap((term) => term.match(/[A-Za-z$][\w.-]*/g) ?? []));
}
