import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { sign } from "../webhooks/sign.ts";
import { checkSignature, explainSignature } from "./check-signature.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const BARE = SECRET.slice(6);
const TEXT =
  '{"event":"user.created","timestamp":"2026-03-15T12:01:00.000Z","webhook_id":"wh_1","delivery_id":"del_1"}';
const BODY = Buffer.from(TEXT);
const toHexHmac = (key: string | Uint8Array, bytes: string | Uint8Array = BODY, algorithm = "sha256") =>
  createHmac(algorithm, key).update(bytes).digest("hex");
const explain = (mine: string, given: { secret?: string; timestamp?: string } = {}) =>
  explainSignature({ secret: SECRET, body: BODY, mine, ...given });

describe("the explanation of a receiver's own digest [6.3]", () => {
  it("confirms a valid signature, and contains the expected one [6.3]", () => {
    expect(explain(sign(SECRET, BODY))).toMatchObject({
      verdict: "valid",
      expected: sign(SECRET, BODY),
      body_bytes: BODY.length,
    });
  });

  const keys: [string, string | Uint8Array, RegExp][] = [
    ["without its prefix", BARE, /without its whsec_ prefix$/],
    ["with its prefix twice", `whsec_${SECRET}`, /prefix twice/],
    ["decoded", Buffer.from(BARE, "base64"), /decoded from base64/],
    ["with a line end", `${SECRET}\n`, /a line break after it/],
    ["with a space before it", ` ${SECRET}`, /a space before it/],
    ["encoded in hex", Buffer.from(SECRET).toString("hex"), /encoded in hex/],
    ["with a CRLF line end", `${SECRET}\r\n`, /carriage return/],
    ["without its prefix, with a line end", `${BARE}\n`, /without its whsec_ prefix, and a line break/],
    ["in quotation marks", `"${SECRET}"`, /quotation marks/],
    ["that was never set", "undefined", /not set/],
    ["encoded", Buffer.from(SECRET).toString("base64"), /encoded in base64/],
  ];
  it.each(keys)("names the secret if the digest was made with a secret %s [6.3]", (_name, key, reason) => {
    const found = explain(`sha256=${toHexHmac(key)}`);
    expect(found).toMatchObject({ verdict: "invalid", code: "wrong-secret" });
    expect(found.reason).toMatch(reason);
    expect(found.fix).toContain("whsec_ included");
    expect(`${found.reason} ${found.fix}`).not.toContain(BARE);
  });

  it.each(keys)("is the same in listen for a digest made with a secret %s [interfaces 14]", (_name, key) => {
    const header = `sha256=${toHexHmac(key)}`;
    const { reason, code } = explain(header);
    expect(checkSignature({ secret: SECRET, header, body: BODY })).toMatchObject({ reason, code });
  });

  it("names a secret that was decoded from hex [6.3]", () => {
    const secret = "whsec_9b1d4f2c7a60e358";
    const mine = `sha256=${toHexHmac(Buffer.from("9b1d4f2c7a60e358", "hex"))}`;
    expect(explain(mine, { secret }).reason).toMatch(/decoded from hex/);
  });

  const damaged: [string, string, RegExp][] = [
    ["without its prefix", BARE, /whsec_ before it \(it was given without\)/],
    ["with its prefix twice", `whsec_${SECRET}`, /prefix once \(it was given with it twice\)/],
    ["with a line end", `${SECRET}\n`, /line ends around it \(it was given with them\)/],
    ["encoded", Buffer.from(SECRET).toString("base64"), /\(it was given encoded\)/],
    ["in quotation marks", `'${SECRET}'`, /without its quotation marks/],
  ];
  it.each(damaged)(
    "recognizes a right digest if the secret at hand is given %s [6.3]",
    (_name, secret, reason) => {
      const found = explain(sign(SECRET, BODY), { secret });
      expect(found).toMatchObject({ verdict: "invalid", code: "wrong-secret" });
      expect(found.reason).toMatch(reason);
    },
  );

  it("recognizes a right digest if the secret at hand is given decoded [6.3]", () => {
    const secret = `whsec_${Buffer.from("a readable secret").toString("base64")}`;
    expect(explain(sign(secret, BODY), { secret: "a readable secret" }).reason).toMatch(/given decoded/);
  });

  const joined: [string, string, { timestamp?: string }, RegExp][] = [
    [
      "the payload's timestamp and a dot",
      `2026-03-15T12:01:00.000Z.${TEXT}`,
      {},
      /payload's timestamp, a dot/,
    ],
    ["its seconds", `1773576060.${TEXT}`, {}, /in seconds, a dot/],
    ["a timestamp of its own", `1700000000.${TEXT}`, { timestamp: "1700000000" }, /timestamp given, a dot/],
    ["v0 and colons", `v0:17:${TEXT}`, { timestamp: "17" }, /"v0:"/],
    ["id and timestamp", `del_1.17.${TEXT}`, { timestamp: "17" }, /the delivery's id, the timestamp given/],
  ];
  it.each(joined)(
    "names the other input of a digest over the body and %s [6.3]",
    (_name, signed, given, reason) => {
      const found = explain(`sha256=${toHexHmac(SECRET, signed)}`, given);
      expect(found.code).toBe("body-changed");
      expect(found.reason).toMatch(reason);
    },
  );

  const FIELDS = {
    event: "user.created",
    data: { name: "Zoë's \\ café", ok: true, none: null, ids: ["usr_1", 2], url: "https://x.test/a?b" },
  };
  const NAMED = JSON.stringify(FIELDS);
  const respelled: [string, string, RegExp][] = [
    [
      "Python's str() of the payload",
      `{'event': 'user.created', 'data': {'name': "Zoë's \\\\ café", 'ok': True, 'none': None, 'ids': ['usr_1', 2], 'url': 'https://x.test/a?b'}}`,
      /the payload as a Python dict/,
    ],
    ["the body in NFD", NAMED.normalize("NFD"), /Unicode form NFD/],
    ["the body URL-encoded", encodeURIComponent(NAMED), /the body URL-encoded$/],
    [
      "the body URL-encoded by Python's quote",
      encodeURIComponent(NAMED).replaceAll("%2F", "/").replaceAll("'", "%27"),
      /the body URL-encoded by Python's quote/,
    ],
    [
      "the body URL-encoded as a value of a form",
      new URLSearchParams({ "": NAMED }).toString().slice(1),
      /the body URL-encoded, with \+ for spaces/,
    ],
    [
      "the payload's fields as a form",
      new URLSearchParams([
        ["event", FIELDS.event],
        ["data[name]", FIELDS.data.name],
        ["data[ok]", "true"],
        ["data[none]", ""],
        ["data[ids][0]", "usr_1"],
        ["data[ids][1]", "2"],
        ["data[url]", FIELDS.data.url],
      ]).toString(),
      /the payload's fields as a URL-encoded form/,
    ],
    [
      "the payload as URLSearchParams writes it",
      "event=user.created&data=%5Bobject+Object%5D",
      /the payload's fields as URLSearchParams writes them/,
    ],
  ];
  it.each(respelled)("names the other input of a digest over %s [6.3]", (_name, signed, reason) => {
    const body = Buffer.from(NAMED);
    const found = explainSignature({ secret: SECRET, body, mine: `sha256=${toHexHmac(SECRET, signed)}` });
    expect(found.code).toBe("body-changed");
    expect(found.reason).toMatch(reason);
  });

  it("names a body in NFC if the sender's was in NFD [6.3]", () => {
    const body = Buffer.from(NAMED.normalize("NFD"));
    const found = explainSignature({ secret: SECRET, body, mine: `sha256=${toHexHmac(SECRET, NAMED)}` });
    expect(found.reason).toMatch(/Unicode form NFC/);
  });

  it("names two mistakes at once, with both fixes [6.3]", () => {
    const found = explain(`sha256=${toHexHmac(BARE, `${TEXT}\n`)}`);
    expect(found.reason).toMatch(/two mistakes.*without its whsec_ prefix over the body with a line break/);
    expect(found.fix).toMatch(/whsec_ included.*bytes as they travel/);
  });

  it("names a wrong form and a wrong hash [6.3]", () => {
    const found = explain(toHexHmac(BARE, BODY, "sha1"));
    expect(found.code).toBe("no-prefix");
    expect(found.reason).toMatch(/also, .*HMAC with sha1, made with the secret without its whsec_ prefix/);
    expect(found.fix).toMatch(/^Write `sha256=`.*whsec_ included/);
  });

  it("distinguishes a hash of the secret and the body from an HMAC [6.3]", () => {
    const mine = `sha256=${createHash("sha256").update(SECRET).update(BODY).digest("hex")}`;
    expect(explain(mine)).toMatchObject({ code: "wrong-algorithm", fix: expect.stringContaining("HMAC") });
  });

  it("recognizes a right digest with text behind it [6.3]", () => {
    expect(explain(`${sign(SECRET, BODY)}00`).reason).toMatch(/the right digest, and more behind it/);
  });
});
