/** What is given as a service's base URL is none. */
export class BaseUrlError extends Error {}

/**
 * The base URL of a service, as `--target` takes it: absolute, without a slash at its end.
 * @throws BaseUrlError
 */
export function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !["http:", "https:"].includes(url.protocol))
    throw new BaseUrlError(`--target must be an absolute http or https URL, not "${text}"`);
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw new BaseUrlError("--target must be a base URL, without credentials, query or fragment");
  const base = url.href.replace(/\/+$/, "");
  if (/\/v\d+$/.test(base))
    throw new BaseUrlError(`leave the version out of --target: ${base.replace(/\/v\d+$/, "")}`);
  return base;
}
