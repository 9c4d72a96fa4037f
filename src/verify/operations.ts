import type { AnyOperation } from "../contract/operation.ts";
import { RESOURCES } from "../resources/index.ts";

export const OPERATIONS: readonly AnyOperation[] = RESOURCES.flatMap(({ operations }) => operations);

const BY_ID = new Map(OPERATIONS.map((one) => [one.id, one]));

/** @throws Error for an id that is not declared, which is a mistake of this program */
export function operationOf(id: string): AnyOperation {
  const found = BY_ID.get(id);
  if (found === undefined) throw new Error(`there is no operation ${id}`);
  return found;
}

/** Operations that read although their method could change something (4.16 keeps its filters in a body). */
const READS_BY_POST: ReadonlySet<string> = new Set(["change_logs.list"]);

export function reads({ id, method }: AnyOperation): boolean {
  return method === "GET" || READS_BY_POST.has(id);
}
