import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { handleConsole } from "./console-mount.ts";

describe("the console's pages", () => {
  async function fetchAnswer(method: string, path: string) {
    const headers: Record<string, unknown> = {};
    let answer: unknown;
    const response = {
      setHeader: (name: string, value: unknown) => {
        headers[name] = value;
      },
      writeHead: (status: number, more: object) => Object.assign(headers, { status }, more),
      end: (body: unknown) => {
        answer = body;
      },
    };
    await handleConsole({ method } as IncomingMessage, response as unknown as ServerResponse, path);
    return { headers, answer };
  }

  it("refuse other methods, with the content policy of all answers [interfaces 2]", async () => {
    expect(await fetchAnswer("POST", "/_console")).toEqual({
      headers: {
        "Content-Security-Policy":
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        Allow: "GET, HEAD",
        status: 405,
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Length": 38,
      },
      answer: "The console answers GET and HEAD only.",
    });
  });

  it("include no file but the console's own [interfaces 2]", async () => {
    const { headers, answer } = await fetchAnswer("GET", "/_console/no.such");
    expect([headers["status"], answer]).toEqual([404, "The console has no such file."]);
    expect((await fetchAnswer("HEAD", "/_console/s/a.b/journal")).headers["status"]).not.toBe(404);
  });
});
