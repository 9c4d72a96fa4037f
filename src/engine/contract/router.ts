import { type AnyOperation, METHODS, type Method } from "./operation.ts";

/** Limit of request line and headers together. */
export const MAX_HEADER_BYTES = 32 * 1024;

/** The parts of a declaration that routing reads, of the emulated API and of the control API alike. */
export interface Routable {
  method: Method;
  path: string;
}

export interface Match<O extends Routable = AnyOperation> {
  operation: O;
  params: Record<string, string>;
}

/** One segment of the declared paths: fixed texts take precedence over templates, and those over a parameter. */
class Segment<O> {
  readonly fixed = new Map<string, Segment<O>>();
  /** Templates with more than one parameter, such as `{id}:cancel`. */
  mixed: { pattern: RegExp; segment: Segment<O> }[] | undefined;
  parameter: Segment<O> | undefined;
  /** By method, for paths that end here; with the names of their parameters, from left to right. */
  readonly ends = new Map<string, { operation: O; names: readonly string[] }>();
}

/** Finds operations by method and path. A parameter is any non-empty segment, whatever its length (G38). */
export class Router<O extends Routable = AnyOperation> {
  private readonly root = new Segment<O>();

  constructor(operations: readonly O[]) {
    for (const operation of operations) {
      let segment = this.root;
      const names: string[] = [];
      for (const part of operation.path.split("/").slice(1)) {
        const name = /^\{([^{}]+)\}$/.exec(part)?.[1];
        if (name !== undefined) {
          names.push(name);
          segment.parameter ??= new Segment();
          segment = segment.parameter;
        } else if (part.includes("{")) {
          names.push(...[...part.matchAll(TEMPLATE)].map(([, each]) => each!));
          segment = addMixed(segment, part);
        } else {
          const next = segment.fixed.get(part) ?? new Segment<O>();
          segment.fixed.set(part, next);
          segment = next;
        }
      }
      segment.ends.set(operation.method, { operation, names });
    }
  }

  /** Undefined also for a path with a malformed escape. */
  find(method: string, path: string): Match<O> | undefined {
    const parts = readSegments(path);
    if (parts === undefined) return undefined;
    const values: string[] = [];
    const end = follow(this.root, parts, { method, values });
    if (end === undefined) return undefined;
    const params: Record<string, string> = {};
    for (let i = 0; i < values.length; i++) params[end.names[i]!] = values[i]!;
    return { operation: end.operation, params };
  }

  /** Lists the methods that this path answers, for `Allow`. */
  listMethods(path: string): Method[] {
    return METHODS.filter((method) => this.find(method, path) !== undefined);
  }
}

const TEMPLATE = /\{([^{}]+)\}/g;

function addMixed<O>(segment: Segment<O>, part: string): Segment<O> {
  const text = part
    .split(/\{[^{}]+\}/)
    .map((fixed) => fixed.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("(.+?)");
  const known = segment.mixed?.find(({ pattern }) => pattern.source === `^${text}$`);
  if (known !== undefined) return known.segment;
  const added = { pattern: new RegExp(`^${text}$`), segment: new Segment<O>() };
  segment.mixed = [...(segment.mixed ?? []), added];
  return added.segment;
}

/** Decoded; an encoded slash is part of its segment. */
function readSegments(path: string): string[] | undefined {
  const hash = path.indexOf("#");
  const parts = (hash < 0 ? path : path.slice(0, hash)).split("/");
  if (!path.includes("%")) return parts;
  try {
    return parts.map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function follow<O>(
  segment: Segment<O>,
  parts: readonly string[],
  wanted: { method: string; values: string[] },
  index = 1,
): { operation: O; names: readonly string[] } | undefined {
  if (index === parts.length) return segment.ends.get(wanted.method);
  const part = parts[index]!;
  const next = segment.fixed.get(part);
  const found = next && follow(next, parts, wanted, index + 1);
  if (found !== undefined) return found;
  for (const { pattern, segment: inner } of segment.mixed ?? []) {
    const values = pattern.exec(part)?.slice(1);
    if (values === undefined) continue;
    wanted.values.push(...values);
    const matched = follow(inner, parts, wanted, index + 1);
    if (matched !== undefined) return matched;
    wanted.values.splice(-values.length);
  }
  if (segment.parameter === undefined || part === "") return undefined;
  wanted.values.push(part);
  const matched = follow(segment.parameter, parts, wanted, index + 1);
  if (matched === undefined) wanted.values.pop();
  return matched;
}
