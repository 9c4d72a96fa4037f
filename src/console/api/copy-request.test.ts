import { expect, it } from "vitest";
import { formatAsCurl, formatAsFetch, formatAsPython, formatBody } from "./copy-request.ts";

it("a copied curl command sends headers without a value, which curl drops in the usual form", () => {
  const command = formatAsCurl({
    method: "GET",
    url: "http://127.0.0.1:4747/v1/models",
    headers: [
      ["x-empty", ""],
      ["x-full", "it's"],
    ],
    body: undefined,
  });
  expect(command).toContain("-H 'x-empty;'");
  expect(command).toContain(String.raw`-H 'x-full: it'\''s'`);
});

it("a copied curl command adds no content type to a body that was sent without one", () => {
  const request = { method: "POST", url: "http://127.0.0.1:4747/v1/threads", body: "{}" };
  expect(formatAsCurl({ ...request, headers: [] })).toContain("-H 'Content-Type:'");
  const typed = formatAsCurl({ ...request, headers: [["content-type", "application/json"]] });
  expect(typed.match(/content-type/gi)).toHaveLength(1);
});

it("a request copied as fetch or Python keeps every repeated header", () => {
  const request = { method: "GET", url: "http://127.0.0.1:4747/v1/models", body: undefined };
  const headers: [string, string][] = [
    ["X-Tag", "one"],
    ["x-other", "three"],
    ["x-tag", "two"],
  ];
  for (const copy of [formatAsFetch, formatAsPython])
    expect(copy({ ...request, headers }).replaceAll(/\s/g, "")).toContain(
      '{"X-Tag":"one,two","x-other":"three"}',
    );
});

it.each([
  ["a JSON string", '"Zoë"', "Zoë"],
  ["a text", "Zoë", "Zoë"],
  ["a number", "5", 5],
])("%s is copied with the bytes that were sent", (_, sent, body) => {
  const headers = [{ name: "Content-Length", value: String(Buffer.byteLength(sent)) }];
  expect(formatBody({ headers, body })).toBe(sent);
});
