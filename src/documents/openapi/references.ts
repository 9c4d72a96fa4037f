import { decodeLeniently } from "../../engine/contract/http-url.ts";
import { toSteps } from "../../engine/contract/invalid-field.ts";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { findNearest } from "../../engine/contract/text.ts";
import type { DocumentPath } from "../../engine/documents/document-error.ts";
import type { ProblemDetails } from "../../engine/documents/user-document.ts";
import { getOrAdd } from "../../engine/maps.ts";
import { walk } from "./walk.ts";

export interface ResolvedNode<T = JsonObject> {
  node: T;
  path: DocumentPath;
}

/** The problem of a `$ref`. The message follows the text of the `$ref`: `leads to no object`. */
interface BadReference extends Pick<ProblemDetails, "message" | "hint"> {
  /** Whether the document lacks the target, so that the `$ref` describes nothing. */
  isMissing?: boolean;
}

/** Combining more schemas, one within another, would overflow the stack in reading and in validation. */
export const MAX_COMBINED = 1_000;
const COMBINING = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];

/** Follows the `$ref`s of one document. Nothing is fetched, and no other file is read. */
export class References {
  private readonly root: JsonObject;
  private readonly targets = new Map<string, ResolvedNode<unknown> | undefined>();
  private readonly combinedCounts = new Map<JsonObject, number>();
  private readonly selfCombining = new Map<unknown, boolean>();
  /** The schemas that contain the one being counted. */
  private readonly outer = new Set<JsonObject>();
  /** The schemas with an `$anchor`; found when a `$ref` first names one. */
  private anchors: ReadonlyMap<string, ResolvedNode<unknown>> | undefined;

  constructor(root: JsonObject) {
    this.root = root;
  }

  /** The object itself, or the one that its `$ref` leads to, over any number of steps. Only for checked references. */
  follow({ node, path }: ResolvedNode): ResolvedNode {
    const seen = new Set<JsonObject>();
    let resolved: ResolvedNode = { node, path };
    while (typeof resolved.node["$ref"] === "string" && !seen.has(resolved.node)) {
      seen.add(resolved.node);
      const target = this.find(resolved.node["$ref"]);
      if (target === undefined || !isJsonObject(target.node)) return resolved;
      resolved = target as ResolvedNode;
    }
    return resolved;
  }

  find(ref: string): ResolvedNode<unknown> | undefined {
    if (!this.targets.has(ref)) this.targets.set(ref, this.search(ref));
    return this.targets.get(ref);
  }

  /** Whether a `$ref` leads nowhere. */
  isMissing(node: unknown): boolean {
    return isJsonObject(node) && typeof node["$ref"] === "string" && this.find(node["$ref"]) === undefined;
  }

  private search(ref: string): ResolvedNode<unknown> | undefined {
    if (ref !== "#" && !ref.startsWith("#/")) return this.findAnchor(ref);
    const path: (string | number)[] = [];
    let node: unknown = this.root;
    for (const step of splitReference(ref)) {
      if (typeof node !== "object" || node === null || !Object.hasOwn(node, step)) return undefined;
      path.push(Array.isArray(node) ? Number(step) : step);
      node = (node as JsonObject)[step];
    }
    return { node, path };
  }

  /** The schema with the `$anchor` of a `$ref` such as `#tag`. */
  private findAnchor(ref: string): ResolvedNode<unknown> | undefined {
    if (this.anchors === undefined) {
      const anchors = new Map<string, ResolvedNode<unknown>>();
      walk({ kind: "document", node: this.root, path: [] }, ({ kind, node, path }) => {
        const { $anchor: anchor, $dynamicAnchor: dynamicAnchor } = node;
        if (kind !== "schema") return;
        for (const name of [anchor, dynamicAnchor])
          if (typeof name === "string") anchors.set(`#${name}`, { node, path });
      });
      this.anchors = anchors;
    }
    return this.anchors.get(ref);
  }

  /** Undefined for a `$ref` that leads to an object, or, within schemas, to any schema. */
  check(node: JsonObject, isSchema: boolean): BadReference | undefined {
    const ref = node["$ref"] as string;
    if (!ref.startsWith("#"))
      return {
        message: `is not in this document; only references within it, which begin with #/, are followed, and nothing is fetched`,
      };
    const target = this.find(ref);
    if (target === undefined)
      return { message: "leads nowhere", hint: this.suggestReference(ref), isMissing: true };
    if (!isJsonObject(target.node) && !(isSchema && typeof target.node === "boolean"))
      return { message: "leads to no object" };
    return this.isCircular(node) ? { message: "leads back to itself" } : undefined;
  }

  /**
   * How many schemas are applied to one value, one within another: those that a schema refers to and combines. Counting
   * ends beyond `MAX_COMBINED`.
   */
  countCombined(node: unknown): number {
    if (!isJsonObject(node) || this.outer.has(node)) return 0;
    const known = this.combinedCounts.get(node);
    if (known !== undefined || this.outer.size > MAX_COMBINED) return known ?? 0;
    this.outer.add(node);
    let inner = 0;
    for (const part of this.listCombined(node)) inner = Math.max(inner, this.countCombined(part));
    this.outer.delete(node);
    this.combinedCounts.set(node, inner + 1);
    return inner + 1;
  }

  /** The schemas that are applied to the same value as this one. */
  private listCombined(node: JsonObject): unknown[] {
    const { $ref: ref, dependentSchemas } = node;
    const target = typeof ref === "string" ? this.find(ref)?.node : undefined;
    const dependent = isJsonObject(dependentSchemas) ? Object.values(dependentSchemas) : [];
    return [target, ...COMBINING.flatMap((key) => node[key]), ...dependent];
  }

  /** Whether a schema combines itself, such as `Pet` with `oneOf: [Cat, Dog]` if `Cat` has `allOf: [Pet]`. */
  combinesItself(schema: unknown): boolean {
    return getOrAdd(this.selfCombining, schema, () => {
      const seen = new Set<unknown>();
      const open = [schema];
      while (open.length > 0) {
        const node = open.pop();
        if (!isJsonObject(node) || seen.has(node)) continue;
        seen.add(node);
        const combined = this.listCombined(node);
        if (combined.includes(schema)) return true;
        open.push(...combined);
      }
      return false;
    });
  }

  private isCircular(node: JsonObject): boolean {
    const seen = new Set<unknown>();
    for (let next: unknown = node; isJsonObject(next) && typeof next["$ref"] === "string"; ) {
      if (seen.has(next)) return true;
      seen.add(next);
      if (seen.size > MAX_COMBINED) return false;
      // Other keywords beside a `$ref`, which OpenAPI 3.1 allows, do not end a circle.
      next = this.find(next["$ref"])?.node;
    }
    return false;
  }

  /** The reference with the nearest name that exists in the same parent. */
  private suggestReference(ref: string): string | undefined {
    if (!ref.includes("/")) return findNearest(ref, [...(this.anchors?.keys() ?? [])]);
    const cut = ref.lastIndexOf("/");
    const parent = this.find(ref.slice(0, cut))?.node;
    if (cut < 1 || !isJsonObject(parent)) return undefined;
    const name = findNearest(splitReference(ref).at(-1)!, Object.keys(parent));
    return name === undefined ? undefined : `${ref.slice(0, cut)}/${name}`;
  }
}

/** The steps of `#/a/b~1c`. */
export function splitReference(ref: string): string[] {
  return toSteps(ref, decodeLeniently);
}
