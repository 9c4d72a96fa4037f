import { type Alias, isAlias, isCollection, isMap, isScalar, isSeq, type Node, type Scalar } from "yaml";
import { clip, MAX_PROBLEMS } from "./document-error.ts";
import type { DocumentLimits } from "./document-limits.ts";
import { DANGEROUS_KEYS } from "./document-limits.ts";
import type { SyntaxProblem } from "./yaml-syntax.ts";

export interface CheckedNodes {
  problems: SyntaxProblem[];
  /** The target of each alias: the nearest anchor of its name before it. */
  targets: ReadonlyMap<Alias, Node>;
}

/**
 * Walks a parsed document once, in its own order, and finds what YAML allows and a document of ours does not:
 * keys given twice, keys that are no text, dangerous keys, numbers that lose digits, aliases without a target.
 */
export function checkNodes(root: Node | null): CheckedNodes {
  const walk: Walk = { problems: [], targets: new Map(), anchors: new Map(), open: new Set() };
  checkNode(root, walk);
  return walk;
}

interface Walk extends CheckedNodes {
  targets: Map<Alias, Node>;
  anchors: Map<string, Node>;
  open: Set<Node>;
}

function checkNode(node: unknown, walk: Walk): void {
  if (walk.problems.length >= MAX_PROBLEMS) return;
  if (isAlias(node)) checkAlias(node, walk);
  if (isScalar(node)) {
    if (node.anchor !== undefined) walk.anchors.set(node.anchor, node);
    if (typeof node.value === "number") checkNumber(node, walk);
    return;
  }
  if (!isCollection(node)) return;
  if (node.anchor !== undefined) walk.anchors.set(node.anchor, node);
  walk.open.add(node);
  if (isSeq(node)) for (const item of node.items) checkNode(item, walk);
  if (isMap(node)) checkKeys(node.items, walk);
  walk.open.delete(node);
}

function checkKeys(items: readonly { key: unknown; value: unknown }[], walk: Walk): void {
  const seen = new Set<string>();
  for (const { key, value } of items) {
    if (walk.problems.length >= MAX_PROBLEMS) return;
    const name = keyName(key);
    const report = (message: string) => walk.problems.push({ offset: findOffset(key), message });
    if (name === undefined) report("a key must be a plain text");
    else if (name === "") report("a key is missing before the colon");
    else if (DANGEROUS_KEYS.has(name)) report(`the key \`${name}\` is not allowed`);
    else if (name === "<<")
      report("merge keys (<<) are not understood; use `extends`, or write the fields out");
    else if (seen.has(name)) report(`the key \`${clip(name, 60)}\` is given twice`);
    else seen.add(name);
    if (isScalar(key) && key.anchor !== undefined) walk.anchors.set(key.anchor, key);
    checkNode(value, walk);
  }
}

function checkAlias(alias: Alias, walk: Walk): void {
  const target = walk.anchors.get(alias.source);
  const name = clip(alias.source, 60);
  if (target === undefined)
    walk.problems.push({ offset: findOffset(alias), message: `nothing before this is named &${name}` });
  else if (walk.open.has(target))
    walk.problems.push({
      offset: findOffset(alias),
      message: `*${name} stands within the value it refers to`,
    });
  else walk.targets.set(alias, target);
}

// A number that comes out different from what was written is worse than an error.
function checkNumber(node: Scalar, walk: Walk): void {
  const value = node.value as number;
  if (!Number.isFinite(value))
    walk.problems.push({
      offset: findOffset(node),
      message: "a number must be finite; quote it if it is a text",
    });
  else if (
    Number.isInteger(value) &&
    !Number.isSafeInteger(value) &&
    /^[-+]?(\d+|0x[\da-f]+|0o[0-7]+)$/i.test(node.source ?? "")
  )
    walk.problems.push({
      offset: findOffset(node),
      message: `the number ${clip(node.source ?? "", 30)} is too large to be exact; quote it if it is a text`,
    });
}

/** The name of a key as it was written: `1.10`, `true` and `null` are names too. Undefined for a map, list or alias. */
export function keyName(key: unknown): string | undefined {
  if (!isScalar(key)) return undefined;
  return typeof key.value === "string" ? key.value : (key.source ?? "");
}

export function findOffset(node: unknown): number {
  return isScalar(node) || isCollection(node) || isAlias(node) ? (node.range?.[0] ?? 0) : 0;
}

/** The expanded document is beyond its limits; the message says which, the offset where. */
export class ExpansionError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/**
 * The plain value of checked nodes. Each use of an alias gets a copy of its own, so that changing one record
 * never changes another; what that costs is counted, which is what ends a billion laughs.
 * @throws ExpansionError
 */
export function plainValue(
  root: Node | null,
  targets: ReadonlyMap<Alias, Node>,
  limits: DocumentLimits,
): unknown {
  let values = 0;
  const convert = (node: unknown, depth: number): unknown => {
    if (++values > limits.maxValues)
      throw new ExpansionError(
        `the document is too large: it expands to more than ${limits.maxValues} values`,
        findOffset(node),
      );
    if (depth > limits.maxDepth)
      throw new ExpansionError(
        `maps and lists are nested more than ${limits.maxDepth} deep`,
        findOffset(node),
      );
    if (isAlias(node)) return convert(targets.get(node), depth);
    if (isScalar(node)) return Object.is(node.value, -0) ? 0 : node.value;
    if (isSeq(node)) return node.items.map((item) => convert(item, depth + 1));
    if (!isMap(node)) return null;
    const fields: Record<string, unknown> = {};
    for (const pair of node.items) fields[keyName(pair.key) ?? ""] = convert(pair.value, depth + 1);
    return fields;
  };
  return convert(root, 0);
}
