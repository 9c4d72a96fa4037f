import { createRequire } from "node:module";
import type { Alias, Node, Scalar, YAMLMap, YAMLSeq } from "yaml";

type Yaml = typeof import("yaml");

let loaded: Yaml | undefined;

/**
 * The `yaml` package, loaded when the first text is parsed: a server that starts with what the build stored
 * never parses one, and loading the package costs a good part of a cold start.
 */
export function yaml(): Yaml {
  loaded ??= createRequire(import.meta.url)("yaml") as Yaml;
  return loaded;
}

export const isAlias = (node: unknown): node is Alias => yaml().isAlias(node);
export const isCollection = (node: unknown): node is YAMLMap | YAMLSeq => yaml().isCollection(node);
export const isMap = (node: unknown): node is YAMLMap => yaml().isMap(node);
export const isScalar = (node: unknown): node is Scalar => yaml().isScalar(node);
export const isSeq = (node: unknown): node is YAMLSeq<Node> => yaml().isSeq(node);
