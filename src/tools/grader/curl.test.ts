import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toCurlCommand } from "./curl.ts";
import type { RawRequest } from "./network.ts";

/**
 * A replacement for curl that prints what a shell would pass to it: the arguments, then standard input if curl would
 * read it.
 */
const STAND_IN = `curl() { for one; do printf '%s\\0' "$one"; done; case "$one" in @-) cat;; esac; }`;

/** Runs the command in a POSIX shell and returns the headers and the body that curl would send. */
function runCurl(request: RawRequest): { headers: string[]; body: Buffer; url: boolean } {
  const output = execFileSync("sh", ["-c", `${STAND_IN}; ${toCurlCommand(request)}`], { maxBuffer: 4e6 });
  const parts: Buffer[] = [];
  let rest = output;
  for (let end = rest.indexOf(0); end !== -1 && parts.at(-1)?.toString() !== "@-"; end = rest.indexOf(0)) {
    parts.push(rest.subarray(0, end));
    rest = rest.subarray(end + 1);
  }
  const texts = parts.map((part) => part.toString());
  const headers = texts.filter((_, index) => texts[index - 1] === "-H");
  const last = parts.at(-1)!;
  return { headers, body: last.toString() === "@-" ? rest : last, url: texts.includes(request.url.href) };
}

function post(body: Buffer, headers: RawRequest["headers"] = []): RawRequest {
  return { method: "POST", url: new URL("http://127.0.0.1:3000/it's?a=$HOME&b=`id`"), headers, body };
}

describe("the curl line of a check [6]", () => {
  it("sends exactly the bytes of any body [6]", () => {
    const anything = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
      fc.string({ unit: "grapheme", maxLength: 40 }).map((text) => Buffer.from(text)),
      fc
        .constantFrom("@/etc/passwd", "'; exit 1 #", "%s %% \\n \\\\", "", "$(id)", "@-", "-\0", "--", "-e\0")
        .map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(anything, (body) => {
        expect(runCurl(post(body)).body.equals(body)).toBe(true);
      }),
      { numRuns: 150, examples: [[Buffer.from("-\0")]] },
    );
  });

  it("rebuilds a large body from a short line [6]", () => {
    const body = Buffer.from(`{"content":"${"x".repeat(262_144)}","more":"${"'".repeat(2000)}%\n"}`);
    expect(toCurlCommand(post(body)).length).toBeLessThan(600);
    expect(runCurl(post(body)).body.equals(body)).toBe(true);
  });

  it("preserves names, empty values and quotes in headers and URL [6]", () => {
    const { headers, url } = runCurl(
      post(Buffer.from("{}"), [
        ["x-LOWER", "it's $HOME"],
        ["X-Service-Signature", ""],
      ]),
    );
    expect(headers).toEqual(["x-LOWER: it's $HOME", "X-Service-Signature;", "Content-Type:"]);
    expect(url).toBe(true);
  });

  it("adds no content type to a body that was sent without one, as curl would [6]", async () => {
    const types: (string | undefined)[] = [];
    const server = createServer(({ headers }, response) => {
      types.push(headers["content-type"]);
      response.end();
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    for (const headers of [[], [["content-type", "text/plain"]]] as RawRequest["headers"][]) {
      const request = { ...post(Buffer.from("{}"), headers), url: new URL(`http://127.0.0.1:${port}/`) };
      await promisify(execFile)("sh", ["-c", toCurlCommand(request)]);
    }
    server.close();
    expect(types).toEqual([undefined, "text/plain"]);
  });
});
