import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { freeName } from "./free-name.ts";
import { refusalOf, StoreRefusal } from "./store.ts";

it.each([
  ["ENOSPC", "full", "there is no room left for /kept (ENOSPC)"],
  ["EDQUOT", "full", "there is no room left for /kept (EDQUOT)"],
  ["SQLITE_FULL", "full", "there is no room left for /kept (SQLITE_FULL)"],
  ["EROFS", "read-only", "/kept cannot be written to (EROFS)"],
  ["EACCES", "read-only", "/kept cannot be written to (EACCES)"],
  ["EPERM", "read-only", "/kept cannot be written to (EPERM)"],
  ["SQLITE_READONLY_DBMOVED", "read-only", "/kept cannot be written to (SQLITE_READONLY_DBMOVED)"],
  ["SQLITE_PERM", "read-only", "/kept cannot be written to (SQLITE_PERM)"],
  ["ENOENT", "gone", "/kept is gone (ENOENT)"],
  ["ENOTDIR", "gone", "/kept is gone (ENOTDIR)"],
  ["ENODEV", "gone", "/kept is gone (ENODEV)"],
  ["ESTALE", "gone", "/kept is gone (ESTALE)"],
  ["SQLITE_CANTOPEN", "gone", "/kept is gone (SQLITE_CANTOPEN)"],
  ["EIO", "failed", "/kept could not be written (EIO)"],
  ["NOT_ENOENT", "failed", "/kept could not be written (NOT_ENOENT)"],
  ["X_ENOSPC", "failed", "/kept could not be written (X_ENOSPC)"],
  ["X_EROFS", "failed", "/kept could not be written (X_EROFS)"],
])("interfaces 2 %s means that a store is %s", (code, kind, message) => {
  const refusal = refusalOf(Object.assign(new Error("words of the system"), { code }), "/kept");
  expect(refusal).toMatchObject({ name: "StoreRefusal", kind, message, retry_after: undefined, headers: {} });
});

it("interfaces 2 an error without a code is told in its words, and a refusal is left as it is", () => {
  expect(refusalOf(new Error("it broke"), "/kept")).toMatchObject({
    ...{ kind: "failed", message: "/kept could not be written (it broke)" },
  });
  const refusal = new StoreRefusal("moved", "elsewhere", 1, { Location: "there" });
  expect(refusalOf(refusal, "/kept")).toBe(refusal);
  expect(refusal).toMatchObject({ retry_after: 1, headers: { Location: "there" } });
});

it("interfaces 2 nothing is written over: a name that is taken has a number behind it", () => {
  const folder = mkdtempSync(join(tmpdir(), "understudy-names-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const name = join(folder, "kept");
  for (const free of [name, `${name}-2`, `${name}-3`]) {
    expect(freeName(name)).toBe(free);
    writeFileSync(free, "");
  }
});
