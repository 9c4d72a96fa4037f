import { readHttpUrl } from "../engine/contract/http-url.ts";

/** An option or a file cannot be used; the message is one sentence that says what to do. */
export class InputError extends Error {}

/** Nothing can be verified: nothing answers, the key is refused, or a recording has nothing of this API. */
export class UnusableTargetError extends Error {}

/**
 * Reads the base URL that `--target` names; removes slashes at its end.
 * @throws InputError
 */
export function readTarget(text: string): string {
  const urlOrProblem = readHttpUrl(text);
  if (typeof urlOrProblem === "string")
    throw new InputError(`--target ${urlOrProblem}; it is the base URL of the service, or of a sandbox`);
  const url = urlOrProblem;
  if (url.search !== "" || url.hash !== "")
    throw new InputError("--target must be a base URL, without query or fragment");
  const base = url.href.replace(/\/+$/, "");
  if (/\/v\d+$/.test(base))
    throw new InputError(`leave the version out of --target: ${base.replace(/\/v\d+$/, "")}`);
  return base;
}
