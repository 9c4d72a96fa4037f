import findMyWay, { type HTTPMethod } from "find-my-way";
import { type AnyOperation, METHODS, type Method } from "../contract/operation.ts";

/** Of request line and headers together. */
export const MAX_HEADER_BYTES = 32 * 1024;

/** What a route needs to know of its declaration; the control API's have no more in common with ours. */
export interface Routed {
  method: Method;
  path: string;
}

export interface Match<O extends Routed = AnyOperation> {
  operation: O;
  params: Record<string, string>;
}

/** Finds operations by method and path; the paths come from the declarations, braces and all. */
export class Router<O extends Routed = AnyOperation> {
  // G38: whatever its length, a parameter is judged by its operation.
  private readonly routes = findMyWay({ ignoreTrailingSlash: false, maxParamLength: MAX_HEADER_BYTES });

  constructor(operations: readonly O[]) {
    for (const operation of operations) {
      const path = operation.path.replace(/\{(\w+)\}/g, ":$1");
      this.routes.on(operation.method as HTTPMethod, path, () => {}, operation);
    }
  }

  find(method: string, path: string): Match<O> | undefined {
    const found = this.routes.find(method as HTTPMethod, path);
    if (found === null || found.store === null || found.store === undefined) return undefined;
    const params = found.params as Record<string, string>;
    // `/v1/threads/` names no thread: to find-my-way it is a parameter of no characters, to G04 no route.
    for (const name in params) if (params[name] === "") return undefined;
    return { operation: found.store as O, params };
  }

  /** For `Allow`: the methods that this path does answer. */
  allowed(path: string): Method[] {
    return METHODS.filter((method) => this.find(method, path) !== undefined);
  }
}
