export declare const RUNNERS: Readonly<
  Record<string, { node?: number; packages: Readonly<Record<string, string>>; files: readonly string[] }>
>;
export declare function runTests(
  name: string,
  folder: string,
  how?: { program?: string; browser?: string | undefined; pools?: readonly string[] },
): Promise<void>;
