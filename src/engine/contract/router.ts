import { getOrAdd } from "../maps.ts";
import { decodeLeniently } from "./http-url.ts";
import { type AnyOperation, METHODS, type Method } from "./operation.ts";
import { escapeRegExp } from "./text.ts";

/** Limit of request line and headers together. */
export const MAX_HEADER_BYTES = 32 * 1024;

/** The parts of a declaration that routing reads, of the emulated API and of the control API alike. */
interface Routable {
  method: Method;
  path: string;
}

interface Match<O extends Routable = AnyOperation> {
  operation: O;
  params: Record<string, string>;
}

/** A node of the tree of declared paths, and the nodes of the next part of a path, in their precedence. */
class PathNode<O> {
  /** By their text. */
  readonly fixed = new Map<string, PathNode<O>>();
  /** For parts that mix parameters with text or with each other, such as `{id}:cancel`. */
  templates: { pattern: RegExp; node: PathNode<O> }[] | undefined;
  /** For a part that is a parameter, such as `{id}`. */
  parameter: PathNode<O> | undefined;
  /** By method, for paths that end here; with the names of their parameters, from left to right. */
  readonly endpoints = new Map<string, { operation: O; names: readonly string[] }>();
}

/** Finds operations by method and path. A parameter is any non-empty segment, whatever its length (G38). */
export class Router<O extends Routable = AnyOperation> {
  private readonly root = new PathNode<O>();

  constructor(operations: readonly O[]) {
    for (const operation of operations) {
      let node = this.root;
      const names: string[] = [];
      for (const part of operation.path.split("/").slice(1)) {
        const name = /^\{([^{}]+)\}$/.exec(part)?.[1];
        if (name !== undefined) {
          names.push(name);
          node.parameter ??= new PathNode();
          node = node.parameter;
        } else if (part.includes("{")) {
          names.push(...Array.from(part.matchAll(PARAMETER), ([, parameter]) => parameter!));
          node = addTemplate(node, part);
        } else {
          node = getOrAdd(node.fixed, decodeLeniently(part), () => new PathNode<O>());
        }
      }
      node.endpoints.set(operation.method, { operation, names });
    }
  }

  /** Undefined also for a path with a malformed escape. */
  find(method: string, path: string): Match<O> | undefined {
    const parts = splitPath(path);
    if (parts === undefined) return undefined;
    const values: string[] = [];
    const end = matchParts(this.root, parts, { method, values });
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

const PARAMETER = /\{([^{}]+)\}/g;

function addTemplate<O>(node: PathNode<O>, part: string): PathNode<O> {
  const pattern = toPartPattern(part);
  const existing = node.templates?.find((one) => one.pattern.source === pattern.source);
  if (existing !== undefined) return existing.node;
  const added = { pattern, node: new PathNode<O>() };
  node.templates = [...(node.templates ?? []), added];
  return added.node;
}

/** The pattern of a part with parameters; its groups are their values. */
export function toPartPattern(part: string): RegExp {
  const text = part
    .split(/\{[^{}]+\}/)
    .map((fixed) => escapeRegExp(decodeLeniently(fixed)))
    .join("(.+?)");
  return new RegExp(`^${text}$`, "s");
}

/** The decoded parts between slashes, without a fragment. An encoded slash is part of its part. */
function splitPath(path: string): string[] | undefined {
  const hash = path.indexOf("#");
  const parts = (hash < 0 ? path : path.slice(0, hash)).split("/");
  if (!path.includes("%")) return parts;
  try {
    return parts.map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function matchParts<O>(
  node: PathNode<O>,
  parts: readonly string[],
  search: { method: string; values: string[] },
  index = 1,
): { operation: O; names: readonly string[] } | undefined {
  if (index === parts.length) return node.endpoints.get(search.method);
  const part = parts[index]!;
  const next = node.fixed.get(part);
  const fixedMatch = next && matchParts(next, parts, search, index + 1);
  if (fixedMatch !== undefined) return fixedMatch;
  for (const { pattern, node: inner } of node.templates ?? []) {
    const values = pattern.exec(part)?.slice(1);
    if (values === undefined) continue;
    search.values.push(...values);
    const matched = matchParts(inner, parts, search, index + 1);
    if (matched !== undefined) return matched;
    search.values.splice(-values.length);
  }
  if (node.parameter === undefined || part === "") return undefined;
  search.values.push(part);
  const matched = matchParts(node.parameter, parts, search, index + 1);
  if (matched === undefined) search.values.pop();
  return matched;
}
