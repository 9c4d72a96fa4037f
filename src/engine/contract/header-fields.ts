/** Field names and values of RFC 9110, in Latin-1. */
export const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
export const FORBIDDEN_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** Headers about one connection (RFC 9110, 7.6.1), or about how a body is sent. A repeated message gets its own. */
export const CONNECTION_HEADER =
  /^(connection|content-length|expect|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/i;

/** The name of the first header that cannot be sent; undefined if all can. */
export function findUnsendableHeader(
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): string | undefined {
  return Object.keys(headers).find(
    (name) =>
      !HEADER_NAME.test(name) || [headers[name]!].flat().some((value) => FORBIDDEN_IN_VALUE.test(value)),
  );
}
