import { expect, it } from "vitest";
import { FetchRequest } from "./fetch-request.ts";

it("keeps headers of every name and value that a socket would bring, in their order [interfaces 17]", () => {
  const headers: [string, string][] = [
    ["1", "one"],
    ["__proto__", "caf\u00e9"],
    ["x-empty", ""],
  ];
  const request = new FetchRequest(new Request("http://a.test/v1", { headers }), new Uint8Array(), "");
  expect(request.rawHeaders).toEqual(["host", "a.test", ...headers.flat()]);
});

it("header names have no case, as happy-dom's `Headers` keeps it [interfaces 17]", () => {
  const url = "http://understudy.test/v1/models";
  const headers = [["Content-Type", "text/plain"]];
  const request = { url, method: "POST", headers } as unknown as Request;
  expect(new FetchRequest(request, new Uint8Array(), "").headers["content-type"]).toBe("text/plain");
});
