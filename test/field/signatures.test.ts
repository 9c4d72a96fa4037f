import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { explainSignature } from "../../src/engine/receivers/check-signature.ts";
import { createTempFolder, removeTempFolders, runCommand } from "../support/run-understudy.ts";
import { startWebhooks } from "../support/webhook-setup.ts";

afterAll(removeTempFolders);

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const DATA = '{"user_id":"usr_1","name":"Zoë <b>O\'Hara & Söhne</b> \\"x\\" + €","email":"zoe@acme.test"}';
const TEXT = `{"event":"user.created","data":${DATA},"timestamp":"2026-03-15T12:01:00.000Z","webhook_id":"wh_1","delivery_id":"del_1"}`;
const BODY = Buffer.from(TEXT);
const computeHmac = (key: string | Uint8Array, bytes: string | Uint8Array) =>
  createHmac("sha256", key).update(bytes);
const computeOtherHmac = (algorithm: string) => createHmac(algorithm, SECRET).update(BODY);
const signText = (bytes: string | Uint8Array) => `sha256=${computeHmac(SECRET, bytes).digest("hex")}`;
const value = JSON.parse(TEXT);
const sortProperties = (text: string) => {
  const object = JSON.parse(text);
  object.data = Object.fromEntries(Object.entries(object.data).sort());
  return JSON.stringify(Object.fromEntries(Object.entries(object).sort()));
};
const formatUnit = (one: string) => one.charCodeAt(0).toString(16).padStart(4, "0");
const escapeAsGo = (text: string) => text.replaceAll(/[<>&]/g, (one) => `\\u${formatUnit(one)}`);
const escapeAsNet = (text: string) =>
  text.replaceAll(/\\"|[<>&'+\u0080-\uffff]/g, (one) => `\\u${formatUnit(one.at(-1)!).toUpperCase()}`);
const escapeAsGson = (text: string) => text.replaceAll(/[<>&=']/g, (one) => `\\u${formatUnit(one)}`);
const writeAsPython = (object: unknown): string =>
  typeof object === "object"
    ? `{${Object.entries(object!)
        .map(([name, one]) => `"${name}": ${writeAsPython(one)}`)
        .join(", ")}}`
    : JSON.stringify(object);
/** Quotation marks and apostrophes are both in the body, so Python quotes by apostrophes. */
const writeAsPythonBytes = (bytes: Buffer) =>
  `b'${bytes
    .toString("latin1")
    .replaceAll(/[\\']/g, "\\$&")
    .replaceAll(/[\x7f-\xff]/g, (one) => `\\x${one.charCodeAt(0).toString(16)}`)}'`;

const MISTAKES: [what: string, mine: string, code: string, reason: RegExp][] = [
  ["Go's escapes", signText(escapeAsGo(TEXT)), "body-changed", /as Go and Rails write it/],
  [
    "Go's escapes and its sorted keys",
    signText(escapeAsGo(sortProperties(TEXT))),
    "body-changed",
    /sorted keys, as Go/,
  ],
  [
    "Go's encoder, which adds a line break",
    signText(`${escapeAsGo(TEXT)}\n`),
    "body-changed",
    /as Go.*line break/,
  ],
  [".NET's escapes in upper case", signText(escapeAsNet(TEXT)), "body-changed", /as \.NET writes it/],
  ["Gson's escapes", signText(escapeAsGson(TEXT)), "body-changed", /as Gson writes it/],
  ["Python's spaces", signText(writeAsPython(value)), "body-changed", /a space after : and ,$/],
  ["sorted keys", signText(sortProperties(TEXT)), "body-changed", /sorted keys, compact$/],
  ["indented by 2", signText(JSON.stringify(value, null, 2)), "body-changed", /indented by 2$/],
  [
    "its data alone",
    signText(JSON.stringify(value.data)),
    "body-changed",
    /only the payload's data, compact/,
  ],
  ["key and data swapped", `sha256=${computeHmac(BODY, SECRET).digest("hex")}`, "swapped", /swapped/],
  [
    "key and data swapped, no prefix",
    `sha256=${computeHmac(BODY, SECRET.slice(6)).digest("hex")}`,
    "swapped",
    /swapped/,
  ],
  ["a body that Express did not parse", signText("{}"), "body-changed", /the text "\{\}", as when/],
  ["a form that PHP did not parse", signText("[]"), "body-changed", /the text "\[\]", as when/],
  ["a body that was not set", signText("undefined"), "body-changed", /the text "undefined", as when/],
  [
    "a Buffer written by JSON.stringify",
    signText(JSON.stringify(BODY)),
    "body-changed",
    /JSON.stringify writes Node/,
  ],
  [
    "a Uint8Array written by String",
    signText(String(new Uint8Array(BODY))),
    "body-changed",
    /the numbers of its bytes/,
  ],
  [
    "Python's str(request.body)",
    signText(writeAsPythonBytes(BODY)),
    "body-changed",
    /as Python's bytes, which str\(\) writes/,
  ],
  ["a body decoded as Latin-1", signText(BODY.toString("latin1")), "body-changed", /read as Latin-1/],
  [
    "a text written as Latin-1",
    signText(Buffer.from(TEXT.replace("€", "?"), "latin1")),
    "body-changed",
    /as Latin-1$/,
  ],
  ["a text written as ASCII", signText(TEXT.replaceAll(/[^\0-\x7f]/g, "?")), "body-changed", /as ASCII$/],
  ["a text written as UTF-16", signText(Buffer.from(TEXT, "utf16le")), "body-changed", /as UTF-16$/],
  [
    "a body that a gateway passed on in base64",
    signText(BODY.toString("base64")),
    "body-changed",
    /encoded in base64/,
  ],
  [
    "CRLF at the end",
    signText(`${TEXT}\r\n`),
    "body-changed",
    /a carriage return and a line break at its end/,
  ],
  ["a line break at the end", signText(`${TEXT}\n`), "body-changed", /with a line break at its end/],
  ["a byte-order mark", signText(`\ufeff${TEXT}`), "body-changed", /with a byte-order mark/],
  [
    "base64 in place of hex",
    `sha256=${computeHmac(SECRET, BODY).digest("base64")}`,
    "wrong-encoding",
    /right.*base64/,
  ],
  [
    "base64 without a prefix",
    computeHmac(SECRET, BODY).digest("base64"),
    "no-prefix",
    /; also, .*right.*base64/,
  ],
  [
    "SHA-1 without a prefix",
    computeOtherHmac("sha1").digest("hex"),
    "no-prefix",
    /; also, .*the length of sha1/,
  ],
  [
    "sha512= and its digest",
    `sha512=${computeOtherHmac("sha512").digest("hex")}`,
    "wrong-prefix",
    /HMAC with sha512/,
  ],
  ["the prefix twice", `sha256=${signText(BODY)}`, "wrong-prefix", /follow "sha256="; "sha256=" follows$/],
  [
    "another prefix behind it",
    `sha256=v1=${computeHmac(SECRET, BODY).digest("hex")}`,
    "wrong-prefix",
    /"v1=" follows$/,
  ],
  [
    "Python's bytes",
    `sha256=b'${computeHmac(SECRET, BODY).digest("hex")}'`,
    "wrong-encoding",
    /quotes around it$/,
  ],
  [
    "quotes and no prefix",
    `"${computeHmac(SECRET, BODY).digest("hex")}"`,
    "no-prefix",
    /; also, .*quotes around it$/,
  ],
  ["0x before it", `sha256=0x${computeHmac(SECRET, BODY).digest("hex")}`, "wrong-encoding", /0x before it$/],
  [
    "C#'s BitConverter",
    computeHmac(SECRET, BODY)
      .digest("hex")
      .toUpperCase()
      .replaceAll(/..(?!$)/g, "$&-"),
    "no-prefix",
    /; also, .*"-" between its bytes$/,
  ],
  ["no digest at all", "zzz", "no-prefix", /it has no prefix; also, .*not hex$/],
  [
    "hex in upper case",
    signText(BODY).replace(/\w+$/, (hex) => hex.toUpperCase()),
    "upper-case",
    /lowercase/,
  ],
  [
    "a timestamp that was not set",
    signText(`undefined.${TEXT}`),
    "body-changed",
    /left out \("undefined"\), a dot/,
  ],
  ["an empty timestamp", signText(`.${TEXT}`), "body-changed", /left out \(""\), a dot/],
  [
    "its timestamp in ms",
    signText(`1773576060000.${TEXT}`),
    "body-changed",
    /timestamp in milliseconds, a dot/,
  ],
];

describe("the explanation of a wrong digest names its cause", () => {
  it.each(MISTAKES)("%s [6.3]", (_what, mine, code, reason) => {
    const found = explainSignature({ secret: SECRET, body: BODY, mine });
    expect(found).toMatchObject({ verdict: "invalid", code });
    expect(found.reason).toMatch(reason);
  });

  it("if a timestamp is given in seconds and signed in milliseconds, and the reverse [6.3]", () => {
    const explain = (timestamp: string, signed: string) =>
      explainSignature({ secret: SECRET, body: BODY, mine: signText(`${signed}.${TEXT}`), timestamp }).reason;
    expect(explain("1700000000", "1700000000000")).toMatch(/the timestamp given in milliseconds, a dot/);
    expect(explain("1700000000123", "1700000000")).toMatch(/the timestamp given in seconds, a dot/);
  });

  it("with the same words in signature explain and in a receiver's log [6.3]", async () => {
    const mine = signText(escapeAsNet(TEXT));
    const file = join(createTempFolder(), "body.json");
    writeFileSync(file, BODY);
    const explained = await runCommand([
      "signature",
      "explain",
      "--secret",
      SECRET,
      "--body",
      file,
      "--mine",
      mine,
    ]);
    const api = await startWebhooks();
    try {
      const { body: receiver } = await api.control("POST", "/receivers", { secret: SECRET });
      await fetch(receiver.url, { method: "POST", body: BODY, headers: { "X-Service-Signature": mine } });
      const { body } = await api.control("GET", `/receivers/${receiver.id}/requests`);
      expect(body.items[0].reason).toContain("as .NET writes it");
      expect(explained.stdout).toContain(body.items[0].reason);
    } finally {
      await api.close();
    }
  });
});
