import { UsageError } from "./failure.ts";
import { requireFile, writeNewFile } from "./new-file.ts";

export type ReportKind = "junit" | "html";

/** `junit=F,html=F`. @throws UsageError */
export function reportFiles(options: readonly string[] | undefined): Partial<Record<ReportKind, string>> {
  const files: Partial<Record<ReportKind, string>> = {};
  for (const part of (options ?? []).flatMap((text) => text.split(","))) {
    const [, kind, file] = /^(junit|html)=(.+)$/.exec(part.trim()) ?? [];
    if (kind === undefined) throw new UsageError(`--report takes junit=FILE or html=FILE, not "${part}"`);
    if (files[kind as ReportKind] !== undefined)
      throw new UsageError(`--report names ${kind} more than once`);
    requireFile(file!);
    files[kind as ReportKind] = file;
  }
  return files;
}

export function writeReports(
  files: Partial<Record<ReportKind, string>>,
  contents: Record<ReportKind, () => string>,
): void {
  for (const [kind, file] of Object.entries(files) as [ReportKind, string][]) {
    writeNewFile(file, contents[kind](), { force: true });
  }
}
