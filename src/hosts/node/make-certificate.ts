import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import type { Certificate } from "./create-server.ts";

/* A certificate in DER (X.690, RFC 5280), since Node cannot create certificates (docs/decisions/0006). */

const INTEGER = 0x02;
const UTF8_TEXT = 0x0c;
const SEQUENCE = 0x30;
const SET = 0x31;
const OCTETS = 0x04;
/** `[n]` of X.690; 0xa0 if it contains another value. */
const CONTEXT = 0x80;
const EXPLICIT = 0xa0;

function encodeDer(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

/** An object identifier, as its bytes in hexadecimal. */
const encodeOid = (hex: string) => encodeDer(0x06, Buffer.from(hex, "hex"));
const encodeBitString = (bytes: Uint8Array) => encodeDer(0x03, Buffer.from([0]), bytes);
const encodeUtcTime = (at: Date) =>
  encodeDer(0x17, Buffer.from(`${at.toISOString().replace(/\D/g, "").slice(2, 14)}Z`));
const encodeExtension = (id: string, value: Buffer, { critical = false } = {}) =>
  encodeDer(
    SEQUENCE,
    encodeOid(id),
    ...(critical ? [Buffer.from([0x01, 0x01, 0xff])] : []),
    encodeDer(OCTETS, value),
  );

const ECDSA_WITH_SHA256 = encodeDer(SEQUENCE, encodeOid("2a8648ce3d040302"));
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
  const name = encodeDer(
    SEQUENCE,
    encodeDer(
      SET,
      encodeDer(
        SEQUENCE,
        encodeOid(COMMON_NAME),
        encodeDer(UTF8_TEXT, Buffer.from("Understudy on localhost")),
      ),
    ),
  );
  const names = [
    ...NAMES.map((text) => encodeDer(CONTEXT | 2, Buffer.from(text))),
    ...ADDRESSES.map((bytes) => encodeDer(CONTEXT | 7, Buffer.from(bytes))),
  ];
  const extensions = [
    encodeExtension(BASIC_CONSTRAINTS, encodeDer(SEQUENCE), { critical: true }),
    // The only usage is digitalSignature.
    encodeExtension(KEY_USAGE, Buffer.from([0x03, 0x02, 0x07, 0x80]), { critical: true }),
    encodeExtension(EXTENDED_KEY_USAGE, encodeDer(SEQUENCE, encodeOid(SERVER_AUTHENTICATION))),
    encodeExtension(ALTERNATIVE_NAMES, encodeDer(SEQUENCE, ...names)),
  ];
  const serial = randomBytes(16);
  // A serial number must be positive and have no leading zero.
  serial[0] = (serial[0]! & 0x7f) | 0x40;
  const content = encodeDer(
    SEQUENCE,
    // Version 3: versions count from 0.
    encodeDer(EXPLICIT, encodeDer(INTEGER, Buffer.from([2]))),
    encodeDer(INTEGER, serial),
    ECDSA_WITH_SHA256,
    name,
    encodeDer(SEQUENCE, encodeUtcTime(from), encodeUtcTime(until)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    encodeDer(EXPLICIT | 3, encodeDer(SEQUENCE, ...extensions)),
  );
  const certificate = encodeDer(
    SEQUENCE,
    content,
    ECDSA_WITH_SHA256,
    encodeBitString(sign("sha256", content, privateKey)),
  );
  const lines = certificate.toString("base64").replace(/.{1,64}/g, "$&\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}
