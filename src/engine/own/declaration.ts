import type { ErrorCode } from "../contract/errors.ts";
import type { Method } from "../contract/operation.ts";

/*
 * Declarations of `understudy-sandbox/operations`, which has their types. They may come from another copy of the
 * package, or from a script without types, so everything about them is checked.
 */

export interface DeclaredCollection {
  kind: "collection";
  name: string;
  prefix: string;
  record: object;
  emits?: Partial<Record<"insert" | "update" | "remove", string>>;
}
export interface DeclaredEvent {
  kind: "event";
  name: string;
  about: { name: string };
  /** Fields of the record. */
  data: readonly string[];
  summary?: string;
  organization?: (record: object, world: unknown) => string;
}
export interface DeclaredOperation {
  kind: "operation";
  id: string;
  method: Method;
  path: string;
  summary?: string;
  description?: string;
  params?: Fields;
  query?: Fields;
  body?: object;
  response?: object;
  status?: number;
  errors?: readonly ErrorCode[];
  /** `public`, `caller`, `member`, `admin` or `owner`; or a function, whose result the handler gets as `loaded`. */
  access?: string | ((call: unknown) => unknown);
  uses?: Readonly<Record<string, { name: string }>>;
  emit?: string | { name: string };
  /** Whether it changes nothing, although its method is not GET. */
  reads?: boolean;
  handle: (call: unknown, loaded: unknown) => unknown;
}
export type Fields = Readonly<Record<string, object>>;
export type Declaration = DeclaredCollection | DeclaredEvent | DeclaredOperation;

export interface DeclarationSource {
  /** The file's name in messages. */
  source: string;
  /** The digest of its bytes. */
  sha256?: string;
  /** The file of each declaration, if there are several. */
  files?: ReadonlyMap<unknown, string>;
}

/** Whether an export of a file is a declaration. */
export function isDeclaration(value: unknown): value is Declaration {
  const kind = (value as { kind?: unknown } | undefined)?.kind;
  return typeof value === "object" && (kind === "collection" || kind === "event" || kind === "operation");
}
