/** Field names and values of RFC 9110, in Latin-1. */
export const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
export const FORBIDDEN_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** The name of the first header that cannot be sent; undefined if all can. */
export function findUnsendableHeader(
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): string | undefined {
  return Object.keys(headers).find(
    (name) =>
      !HEADER_NAME.test(name) || [headers[name]!].flat().some((value) => FORBIDDEN_IN_VALUE.test(value)),
  );
}
