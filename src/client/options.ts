/**
 * Refuses options that are not an object, and unknown ones, for callers without a compiler.
 * @param owner whose options they are, as messages name it
 * @throws TypeError
 */
export function requireKnownOptions(owner: string, options: object, names: readonly string[]): void {
  const list = names.length > 2 ? names.join(", ") : names.join(" and ");
  if (!isObject(options))
    throw new TypeError(
      `${owner} takes its options as an object of ${list}; it was given ${showValue(options)}`,
    );
  const unknownOption = Object.keys(options).find((key) => !names.includes(key));
  if (unknownOption === undefined) return;
  throw new TypeError(
    `${owner} has no option ${JSON.stringify(unknownOption)}; its ${names.length === 1 ? "option is" : "options are"} ${list}`,
  );
}

/** Options whose names the server checks. @throws TypeError for anything but an object */
export function requireObject<T extends object>(options: T): T {
  if (!isObject(options)) throw new TypeError(`options are an object, not ${showValue(options)}`);
  return options;
}

export const isObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export class NameError extends TypeError {}

/** An id or a name in a path: an empty one, or dots, would name another call. @throws NameError */
export function toPathPart(id: string): string {
  if ((typeof id === "string" || typeof id === "number") && !/^\.{0,2}$/.test(id))
    return encodeURIComponent(id);
  throw new NameError(`${showValue(id)} is not an id or a name`);
}

/** The text for a value of the wrong kind in messages. */
export function showValue(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 80);
}

/** The paths of the emulated API; upload URLs have a path of their own. */
export const API_PATHS = ["/v1", "/v2", "/webhooks"];
export const UPLOAD_PATH = "/upload/storage";

/** The options that say with which world a sandbox begins. */
export const WORLD_OPTIONS = ["fixture", "seed", "clock", "settings"] as const;

/** Operations that the reference lacks (interfaces.md 18). */
export interface OwnOperationOptions {
  /** Operations of your own: a module that exports declarations, or a list of them (`understudy-sandbox/operations`). */
  operations?: object | undefined;
  /** OpenAPI documents to serve too: paths of files, or documents as objects. */
  openapi?: readonly (string | object)[] | undefined;
}
