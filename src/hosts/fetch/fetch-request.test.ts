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
