import { describe, expect, it } from "vitest";
import { Router } from "./router.ts";

const router = new Router([
  { method: "GET", path: "/v1/files" },
  { method: "POST", path: "/v1/files" },
  { method: "GET", path: "/v1/files/{file_id}" },
  { method: "GET", path: "/v1/files/upload" },
  { method: "PUT", path: "/v1/files/{file_id}/parts/{part}" },
  { method: "POST", path: "/v1/files/{file_id}:cancel" },
] as const);

describe("the router", () => {
  it.each([
    ["GET", "/v1/files", "/v1/files", {}],
    ["GET", "/v1/files/a", "/v1/files/{file_id}", { file_id: "a" }],
    ["GET", "/v1/files/upload", "/v1/files/upload", {}],
    ["PUT", "/v1/files/upload/parts/2", "/v1/files/{file_id}/parts/{part}", { file_id: "upload", part: "2" }],
    ["GET", "/v1/files/a%2Fb", "/v1/files/{file_id}", { file_id: "a/b" }],
    ["GET", "/v1/%66iles", "/v1/files", {}],
    ["POST", "/v1/files/a%0Ab:cancel", "/v1/files/{file_id}:cancel", { file_id: "a\nb" }],
    ["GET", `/v1/files/${"x".repeat(9000)}`, "/v1/files/{file_id}", { file_id: "x".repeat(9000) }],
  ])("finds %s %s by %s", (method, path, declared, params) => {
    expect(router.find(method, path)).toMatchObject({ operation: { path: declared }, params });
  });

  it.each(["/v1/files/", "/v1/files//parts/1", "/v1/files/%zz", "/V1/files", "/v1", "/", ""])(
    "finds nothing for %j [G04]",
    (path) => {
      expect(router.find("GET", path)).toBeUndefined();
    },
  );

  it("lists the methods of a path for Allow [G04]", () => {
    expect(router.listMethods("/v1/files")).toEqual(["GET", "POST"]);
    expect(router.listMethods("/v1/files/upload")).toEqual(["GET"]);
    expect(router.listMethods("/v1/nothing")).toEqual([]);
  });
});
