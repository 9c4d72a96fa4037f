import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** Every Markdown page that a user may land on, by its path from the root. */
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
  /** The fence's whole info string, such as `yaml scenario`. */
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

/** Prose and tables alone, since a hash in a shell example is not a heading and brackets there are no links. */
function readProse(page: string): string {
  return readPage(page).replace(/^```.*?^```$/gms, "");
}

/** As GitHub makes them of headings (lower case, punctuation gone, spaces to hyphens), and those set by hand. */
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

/** Links of a page that lead nowhere in this repository, as they are written. */
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

/** The files of the repository that a page links to, by their paths from the root. */
export function findLinkedFiles(page: string): string[] {
  const targets = [...readProse(page).matchAll(/\]\(([^)\s#]+)/g)].map(([, target]) => target!);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => relative(ROOT, resolve(ROOT, dirname(page), target)));
}

/** The cells of each table row. */
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

/** Everything that stands in backticks, without them. */
export function findTerms(page: string): Set<string> {
  return new Set([...readProse(page).matchAll(/`([^`\n]+)`/g)].map(([, term]) => term!));
}

/** Words of terms too: `{ id, role }` mentions both. */
export function findWords(page: string): Set<string> {
  return new Set([...findTerms(page)].flatMap((term) => term.match(/[A-Za-z$][\w.-]*/g) ?? []));
}
