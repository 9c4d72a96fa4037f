import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import type { Certificate } from "./server.ts";

/* A certificate in DER (X.690, RFC 5280), since Node cannot create certificates (docs/decisions/0006). */

const SEQUENCE = 0x30;
const SET = 0x31;
const OCTETS = 0x04;
/** `[n]` of X.690; 0xa0 if it contains another value. */
const CONTEXT = 0x80;
const EXPLICIT = 0xa0;

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

/** An object identifier, as its bytes in hexadecimal. */
const oid = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const bits = (bytes: Uint8Array) => der(0x03, Buffer.from([0]), bytes);
const utcTime = (at: Date) => der(0x17, Buffer.from(`${at.toISOString().replace(/\D/g, "").slice(2, 14)}Z`));
const extension = (id: string, value: Buffer, { critical = false } = {}) =>
  der(SEQUENCE, oid(id), ...(critical ? [Buffer.from([0x01, 0x01, 0xff])] : []), der(OCTETS, value));

const ECDSA_WITH_SHA256 = der(SEQUENCE, oid("2a8648ce3d040302"));
const COMMON_NAME = "550403";
const KEY_USAGE = "551d0f";
const ALTERNATIVE_NAMES = "551d11";
const BASIC_CONSTRAINTS = "551d13";
const EXTENDED_KEY_USAGE = "551d25";
const SERVER_AUTHENTICATION = "2b06010505070301";

const NAMES = ["localhost", "*.localhost"];
const ADDRESSES = [
  [127, 0, 0, 1],
  [...Array(15).fill(0), 1],
];

/** A self-signed certificate for the names and addresses of this machine itself. */
export function makeCertificate(from: Date, until: Date): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = der(
    SEQUENCE,
    der(SET, der(SEQUENCE, oid(COMMON_NAME), der(0x0c, Buffer.from("Understudy on localhost")))),
  );
  const names = [
    ...NAMES.map((text) => der(CONTEXT | 2, Buffer.from(text))),
    ...ADDRESSES.map((bytes) => der(CONTEXT | 7, Buffer.from(bytes))),
  ];
  const extensions = [
    extension(BASIC_CONSTRAINTS, der(SEQUENCE), { critical: true }),
    // Only digitalSignature.
    extension(KEY_USAGE, Buffer.from([0x03, 0x02, 0x07, 0x80]), { critical: true }),
    extension(EXTENDED_KEY_USAGE, der(SEQUENCE, oid(SERVER_AUTHENTICATION))),
    extension(ALTERNATIVE_NAMES, der(SEQUENCE, ...names)),
  ];
  const serial = randomBytes(16);
  // Positive, and without a leading zero.
  serial[0] = (serial[0]! & 0x7f) | 0x40;
  const content = der(
    SEQUENCE,
    der(EXPLICIT, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ECDSA_WITH_SHA256,
    name,
    der(SEQUENCE, utcTime(from), utcTime(until)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(EXPLICIT | 3, der(SEQUENCE, ...extensions)),
  );
  const whole = der(SEQUENCE, content, ECDSA_WITH_SHA256, bits(sign("sha256", content, privateKey)));
  const lines = whole.toString("base64").replace(/.{64}/g, "$&\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}
