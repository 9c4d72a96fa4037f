import { ServerResponse, STATUS_CODES } from "node:http";
import { headersIn, headLines } from "../../engine/sandbox/head-lines.ts";

/** What stands before the body of an answer. */
export interface Head {
  /** `Name: value` with a CRLF each, of the product's own making and so well-formed; written as it stands. */
  lines: string;
  /** Name, value, name, value … that come from elsewhere, which Node judges. */
  headers: string[];
}

/** All of it as lines, as the journal keeps it. */
export function headText({ lines, headers }: Head): string {
  return lines + headLines(headers);
}

/** Node's own writer of heads, which `writeHead` hands the first line and the headers. */
type HeadStore = (this: ServerResponse, firstLine: string, headers: readonly string[]) => void;
const storeHeader = (ServerResponse.prototype as { _storeHeader?: HeadStore })._storeHeader;

/**
 * The same as `response.writeHead` with all the headers. Node takes each header apart, judges name and value with
 * regular expressions and puts it together again: for the fifteen of every answer a tenth of a small request's time.
 * Its writer takes them with the first line as well; it is no documented call, but has been there in every version
 * of Node, and where it should be missing, `writeHead` does the same.
 * @throws TypeError for a header that HTTP cannot carry; nothing has been written then
 */
export function writeHead(response: ServerResponse, status: number, head: Head): void {
  const isPlain = status >= 200 && status !== 204 && status !== 304;
  if (!isPlain || storeHeader === undefined || response.req.headers.expect !== undefined) {
    response.writeHead(status, [...headersIn(head.lines), ...head.headers]);
    return;
  }
  const reason = STATUS_CODES[status] ?? "unknown";
  response.statusCode = status;
  response.statusMessage = reason;
  storeHeader.call(response, `HTTP/1.1 ${status} ${reason}\r\n${head.lines}`, head.headers);
}
