import type { AnyOperation } from "../../../engine/contract/operation.ts";

interface Path {
  operation: AnyOperation;
  names: readonly string[];
  form: RegExp;
  /** How many of its segments are words: of several that fit, the most exact is meant. */
  words: number;
}

export interface Found {
  operation: AnyOperation;
  params: Record<string, string>;
  /** What stands before the operation's path. */
  prefix: string;
}

/** The operations that URLs of a recording belong to. */
export class OperationPaths {
  private readonly paths: readonly Path[];

  constructor(operations: readonly AnyOperation[]) {
    this.paths = operations.map(pathOf).toSorted((a, b) => b.words - a.words);
  }

  /** `prefix` undefined: any. */
  find(method: string, pathname: string, prefix?: string): Found | undefined {
    for (const { operation, names, form } of this.paths) {
      if (operation.method !== method) continue;
      const match = form.exec(pathname);
      if (match === null || (prefix !== undefined && match[1] !== prefix)) continue;
      const params = Object.fromEntries(names.map((name, i) => [name, decoded(match[i + 2]!)]));
      return { operation, params, prefix: match[1]! };
    }
    return undefined;
  }
}

function pathOf(operation: AnyOperation): Path {
  const segments = operation.path.split("/").slice(1);
  const names = segments.flatMap((segment) => /^\{(\w+)\}$/.exec(segment)?.[1] ?? []);
  const form = segments.map((segment) =>
    segment.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replaceAll(/\{\w+\}/g, "([^/]+)"),
  );
  return {
    operation,
    names,
    form: new RegExp(`^(.*?)/${form.join("/")}$`),
    words: segments.length - names.length,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
