import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { sign } from "../webhooks/sign.ts";
import { checkSignature } from "./check-signature.ts";
import type { VerdictCode } from "./signature-mismatch.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const BODY = Buffer.from(
  JSON.stringify({
    event: "user.created",
    data: { user_id: "usr_1", name: "Zoë <z&z>", link: "https://example.test/a", balance: 1.5, big: 3 },
    timestamp: "2025-01-01T00:00:00.000Z",
    webhook_id: "wh_1",
    delivery_id: "del_1",
  }),
);
const RIGHT = sign(SECRET, BODY);
const HEX = RIGHT.slice("sha256=".length);
const toBase64Hmac = (bytes: Uint8Array | string) =>
  createHmac("sha256", SECRET).update(bytes).digest("base64");

describe("the verdict on a signature", () => {
  const check = (header: string | string[] | undefined, body: Uint8Array = BODY) =>
    checkSignature({ secret: SECRET, header, body });

  it("is valid for the right signature, also as the only element of a list [6.3]", () => {
    expect(check(RIGHT)).toMatchObject({ verdict: "valid", code: "match" });
    expect(check([RIGHT])).toMatchObject({ verdict: "valid", code: "match" });
  });

  it("is missing for an absent or empty header [6.3]", () => {
    expect(check(undefined)).toMatchObject({ verdict: "missing", code: "no-header" });
    expect(check([])).toMatchObject({ verdict: "missing", code: "no-header" });
    expect(check("  ")).toMatchObject({ verdict: "missing", code: "empty-header" });
  });

  const forms: [string, string | string[], VerdictCode, RegExp][] = [
    ["two headers", [RIGHT, RIGHT], "repeated-header", /2 times/],
    ["two headers joined by a proxy", `${RIGHT}, ${RIGHT}`, "repeated-header", /commas/],
    ["spaces around the value", ` ${RIGHT}`, "surrounding-space", /spaces/],
    ["no prefix", HEX, "no-prefix", /must start with "sha256="/],
    ["no prefix, base64", toBase64Hmac(BODY), "no-prefix", /must start with/],
    ["another prefix", `sha1=${HEX}`, "wrong-prefix", /starts with "sha1="/],
    ["an upper-case prefix", `SHA256=${HEX}`, "wrong-prefix", /lower case/],
    ["a colon after the prefix", `sha256:${HEX}`, "wrong-prefix", /then =/],
    ["an upper-case digest", `sha256=${HEX.toUpperCase()}`, "upper-case", /lowercase hex/],
    ["base64", `sha256=${toBase64Hmac(BODY)}`, "wrong-encoding", /right digest in base64/],
    [
      "base64url",
      `sha256=${Buffer.from(HEX, "hex").toString("base64url")}`,
      "wrong-encoding",
      /right digest in base64/,
    ],
    ["base64 of the hex", `sha256=${Buffer.from(HEX).toString("base64")}`, "wrong-encoding", /base64/],
    ["base64 of something else", `sha256=${toBase64Hmac("other")}`, "wrong-encoding", /looks like base64/],
    ["letters beyond f", `sha256=${"z".repeat(20)}`, "wrong-encoding", /not hex/],
    ["a cut digest", `sha256=${HEX.slice(0, 40)}`, "truncated", /40 of 64/],
    ["an empty digest", "sha256=", "wrong-length", /0 characters/],
    ["a longer digest", `${RIGHT}00`, "wrong-length", /66 characters/],
    [
      "SHA-1",
      `sha256=${createHmac("sha1", SECRET).update(BODY).digest("hex")}`,
      "wrong-algorithm",
      /length of sha1/,
    ],
    [
      "a hash without the secret",
      `sha256=${createHash("sha256").update(BODY).digest("hex")}`,
      "wrong-algorithm",
      /plain SHA-256/,
    ],
    ["no known mistake", `sha256=${"0".repeat(64)}`, "mismatch", /another secret/],
  ];
  it.each(forms)("explains %s [6.3]", (_name, header, code, reason) => {
    const checked = check(header);
    expect(checked).toMatchObject({ verdict: "invalid", code });
    expect(checked.reason).toMatch(reason);
  });

  const secrets: [string, string | Uint8Array, RegExp][] = [
    ["the secret without its prefix", SECRET.slice(6), /without its whsec_ prefix/],
    ["a decoded secret", Buffer.from(SECRET.slice(6), "base64"), /decoded from base64/],
    ["a secret read with its line break", `${SECRET}\n`, /line break/],
    ["an empty secret", "", /empty secret/],
    ["another webhook's secret", "whsec_other", /webhook wh_2/],
  ];
  it.each(secrets)("names %s as the wrong secret and never contains a secret [6.3]", (_name, key, reason) => {
    const header = `sha256=${createHmac("sha256", key).update(BODY).digest("hex")}`;
    const otherSecrets = () => [{ label: "the secret of webhook wh_2", secret: "whsec_other" }];
    const checked = checkSignature({ secret: SECRET, header, body: BODY, otherSecrets });
    expect(checked).toMatchObject({ verdict: "invalid", code: "wrong-secret" });
    expect(checked.reason).toMatch(reason);
    expect(checked.reason).not.toContain(SECRET.slice(6));
    expect(checked.reason).not.toContain("whsec_other");
  });

  // Bodies written by other languages are literals here, so that the test does not use the code that it tests.
  const sent = '{"b":"Zoë/<&>","a":[1,{"d":null,"c":1.5}]}';
  const bodies: [string, string, string, RegExp][] = [
    ["parsed and stringified", ' {"a" : 1}', '{"a":1}', /serialised again, compact/],
    ["indented by 2", '{"a":[1]}', '{\n  "a": [\n    1\n  ]\n}', /indented by 2/],
    ["indented by 4", '{"a":1}', '{\n    "a": 1\n}', /indented by 4/],
    ["indented by tabs", '{"a":1}', '{\n\t"a": 1\n}', /tabs/],
    ["sorted", sent, '{"a":[1,{"c":1.5,"d":null}],"b":"Zoë/<&>"}', /sorted keys, compact/],
    [
      "Python's json.dumps",
      sent,
      '{"b": "Zo\\u00eb/<&>", "a": [1, {"d": null, "c": 1.5}]}',
      /space after : and ,/,
    ],
    ["PHP's json_encode", sent, '{"b":"Zo\\u00eb\\/<&>","a":[1,{"d":null,"c":1.5}]}', /\/ and non-ASCII/],
    ["Go's json.Marshal", sent, '{"a":[1,{"c":1.5,"d":null}],"b":"Zoë/\\u003c\\u0026\\u003e"}', /<, > and &/],
    ["unescaped", '{"a":"Zo\\u00eb"}', '{"a":"Zoë"}', /serialised again/],
    ["trimmed", '{"a": 1}\n', '{"a": 1}', /without the whitespace/],
    ["given a last line break", '{"a": 1}', '{"a": 1}\n', /line break at its end/],
    ["given CRLF", '{\n"a": 1}', '{\r\n"a": 1}', /CRLF/],
    ["given LF", '{\r\n"a": 1}', '{\n"a": 1}', /LF line ends/],
    ["stripped of its byte-order mark", '\uFEFF{"a": 1}', '{"a": 1}', /byte-order mark|whitespace/],
    ["read empty", '{"a": 1}', "", /empty body/],
    ["turned into an object's name", '{"a": 1}', "[object Object]", /object Object/],
    ["reduced to its data", '{"data":{"a":1},"event":"x"}', '{"a":1}', /only the payload's data/],
    ["prefixed by its timestamp", '{"timestamp":"T1"}', 'T1.{"timestamp":"T1"}', /timestamp, a dot/],
    ["read as Latin-1", '{"a":"ë"}', '{"a":"Ã«"}', /Latin-1/],
  ];
  it.each(bodies)(
    "explains a body that was %s when it was signed [6.3]",
    (_name, received, signed, reason) => {
      const checked = check(sign(SECRET, Buffer.from(signed)), Buffer.from(received));
      expect(checked).toMatchObject({ verdict: "invalid", code: "body-changed" });
      expect(checked.reason).toMatch(reason);
    },
  );

  it("has no explanation if one byte of the body changed [6.3]", () => {
    const changed = Buffer.from(BODY);
    changed[10] = changed[10]! ^ 1;
    expect(check(RIGHT, changed)).toMatchObject({ verdict: "invalid", code: "mismatch" });
  });

  it("is given without an exception for bodies that are not JSON, too deep, or named like a prototype [6.3]", () => {
    for (const text of ["{", "[".repeat(60_000) + "]".repeat(60_000), '{"__proto__":{"a":1}}', "\u0000"]) {
      expect(check(RIGHT, Buffer.from(text))).toMatchObject({ verdict: "invalid", code: "mismatch" });
    }
  });

  it("says if the secret is unknown, and if the header is missing [6.3]", () => {
    const unknown = { secret: undefined, body: BODY };
    expect(checkSignature({ ...unknown, header: RIGHT })).toMatchObject({
      verdict: "invalid",
      code: "no-secret",
    });
    expect(checkSignature({ ...unknown, header: undefined })).toMatchObject({ verdict: "missing" });
  });
});
