import type { Alias, Node } from "yaml";
import { keyName, offsetOf } from "./check-nodes.ts";
import type { DocumentLimits } from "./document-limits.ts";
import { isAlias, isMap, isScalar, isSeq } from "./yaml-package.ts";

/** What a document stands for is beyond its limits; the message says which, the offset where. */
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
        `the document is too large: it stands for more than ${limits.maxValues} values`,
        offsetOf(node),
      );
    if (depth > limits.maxDepth)
      throw new ExpansionError(`maps and lists are nested more than ${limits.maxDepth} deep`, offsetOf(node));
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
