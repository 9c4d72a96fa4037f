import fc from "fast-check";
import picomatch from "picomatch";
import { describe, expect, it } from "vitest";
import { compileGlob, GlobError, isGlob } from "./glob.ts";

describe("globs", () => {
  it.each([
    ["files.*", "files.create_upload_url", true],
    ["files.*", "store_files.attach", false],
    ["files.*", "filesXregister", false],
    ["*.delete", "threads.delete", true],
    ["*", "anything.at.all", true],
    ["threads.delete", "threads.delete", true],
    ["threads.delete", "threads.Delete", false],
    ["{files,uploads}.*", "uploads.put", true],
    ["{files,uploads}.*", "threads.delete", false],
    ["files.r?gister", "files.register", true],
    ["/v1/threads/*", "/v1/threads/thread_1", true],
    ["/v1/threads/*", "/v1/threads/thread_1/messages", false],
    ["/v1/threads/?", "/v1/threads//", false],
    ["/v1/**", "/v1/threads/thread_1/messages", true],
    ["/v1/**", "/v1", true],
    ["/v1/**", "/v10", false],
    ["**", "/v1/anything", true],
    ["**/export", "/v1/audit/export", true],
    ["**/export", "export", true],
    ["/v1/**/export", "/v1/export", true],
    ["/v1/**/export", "/v1/a/b/export", true],
    ["/v1/**/export", "/v1/aexport", false],
    ["/v1/organizations/{organization_id}/files", "/v1/organizations/org_acme/files", true],
    ["/v1/organizations/{organization_id}/files", "/v1/organizations/a/b/files", false],
    ["a\\*b", "a*b", true],
    ["a\\*b", "axb", false],
    ["!files.*", "!files.x", true],
    ["files.+", "files.+", true],
  ])("matches by the pattern %s the text %s: %s [interfaces 6]", (pattern, text, expected) => {
    expect(compileGlob(pattern)(text)).toBe(expected);
  });

  it.each([
    "",
    "a{b",
    "a{{b,c},d}",
    "a}",
    "[ab]",
    "a(b)",
    "+(a|b)",
    "a\\",
    "{}",
    "{a b}",
    "x".repeat(257),
    "{a,b}".repeat(30),
    `{${"a,".repeat(120)}}${"b".repeat(10)}`,
  ])("refuses the pattern %j with a sentence [interfaces 6]", (pattern) => {
    expect(() => compileGlob(pattern)).toThrow(GlobError);
  });

  it("agrees with picomatch on their common syntax [interfaces 6]", () => {
    const part = fc
      .array(fc.constantFrom("a", "b", ".", "*", "?"), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join("").replace(/\*{2,}/g, "*"));
    const patterns = fc
      .array(fc.oneof({ weight: 3, arbitrary: part }, fc.constant("**")), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join("/"));
    // Names that begin or end with a dot are left out: picomatch treats such dots specially, and here they are
    // ordinary.
    const word = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 2 });
    const name = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join("."));
    const texts = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => names.join("/"));
    fc.assert(
      fc.property(patterns, texts, (pattern, text) => {
        // picomatch lets `a/**` match `a` but not `*/**`; here both do.
        fc.pre(!/[*?][^/]*\/\*\*$/.test(pattern) && !/(^|\/)\.+(\/|$)/.test(pattern));
        const matches = picomatch(pattern, {
          dot: true,
          noextglob: true,
          nonegate: true,
          nobracket: true,
        });
        expect(compileGlob(pattern)(text)).toBe(matches(text));
      }),
      { numRuns: 5_000 },
    );
  });

  // A backtracking engine would not finish the first of these.
  it.each([
    ["*a".repeat(120), `${"a".repeat(4_000)}b`, false],
    ["**/".repeat(80) + "x", "a/".repeat(2_000), false],
    ["*".repeat(250), "a".repeat(4_096), true],
    ["?*".repeat(100) + "x", "a".repeat(4_000), false],
    ["{a*,*a}".repeat(4), "a".repeat(4_000) + "/", false],
    ["**/*a*a*a*a*a*a*a*a*a*/**/b", "a/aaaaaaaa/".repeat(300), false],
  ])("worst case %# ends quickly [interfaces 6]", (pattern, text, matched) => {
    const matches = compileGlob(pattern);
    expect(matches(text)).toBe(matched);
    expect(matches("/never")).toBe(false);
  });

  it("a text longer than any path matches nothing [interfaces 6]", () => {
    expect(compileGlob("*")("a".repeat(4_097))).toBe(false);
  });

  it("are distinguished from plain names [interfaces 6]", () => {
    expect([isGlob("files.*"), isGlob("{a,b}"), isGlob("a?"), isGlob("files.register")]).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });
});
