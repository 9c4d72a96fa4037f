import {
  areBytesEqual,
  concatBytes,
  fromHex,
  fromLooseBase64,
  fromUtf8,
  toBase64,
  toHex,
  toUtf8,
} from "../bytes.ts";
import { type DigestAlgorithm, digest as hash, hmac } from "../platform.ts";
import { listBodyVariants } from "./body-variants.ts";

export interface DigestInputs {
  secret: string;
  body: Uint8Array;
  /** A timestamp that may have been signed along with the body, as other services do. */
  timestamp?: string | undefined;
  /** Other secrets that may have been used by mistake, each with a label; computed when needed. */
  otherSecrets?: (() => readonly { label: string; secret: string }[]) | undefined;
}

/** A digest and how it was computed: correctly, or with a known mistake in the key, the bytes or the hash. */
export interface DigestCandidate {
  mistake: "none" | "hash" | "swapped" | "key" | "bytes" | "key-and-bytes";
  /** A noun, such as `the secret without its whsec_ prefix`; never a secret itself. */
  key: string;
  bytes: string;
  digest: Uint8Array;
}

/** Pairs of mistakes are tried for bodies up to this size: that takes thousands of digests. */
const MAX_PAIRED_BYTES = 8 * 1024;

const WHOLE_SECRET = "the secret";
const WHOLE_BODY = "the body";

/** Yields candidates from the most to the least likely; lazy, since most callers stop early. */
export function* listDigestCandidates(
  inputs: DigestInputs,
  algorithm: DigestAlgorithm = "sha256",
): Generator<DigestCandidate> {
  const { secret, body, otherSecrets } = inputs;
  const sign = (key: string | Uint8Array, bytes: Uint8Array) => hmac(algorithm, key, bytes);
  const correct = { key: WHOLE_SECRET, bytes: WHOLE_BODY };
  yield { ...correct, mistake: "none", digest: sign(secret, body) };
  for (const [key, bytes] of listPlainHashes(toUtf8(secret), body))
    yield { ...correct, mistake: "hash", key, digest: hash(algorithm, bytes) };
  for (const text of new Set([secret, secret.replace(PREFIX, "")]))
    yield { mistake: "swapped", key: WHOLE_BODY, bytes: WHOLE_SECRET, digest: sign(body, toUtf8(text)) };
  const keyVariants = listKeyVariants(secret);
  for (const [label, key] of keyVariants)
    yield { ...correct, mistake: "key", key: label, digest: sign(key, body) };
  for (const { label, secret: other } of otherSecrets?.() ?? [])
    yield { ...correct, mistake: "key", key: label, digest: sign(other, body) };
  const bodyVariants: [string, Uint8Array][] = [];
  for (const [label, variant] of listBodyVariants(body, inputs.timestamp)) {
    yield { ...correct, mistake: "bytes", bytes: label, digest: sign(secret, variant) };
    if (body.length <= MAX_PAIRED_BYTES) bodyVariants.push([label, variant]);
  }
  for (const [label, key] of keyVariants) {
    for (const [bytes, variant] of bodyVariants)
      yield { mistake: "key-and-bytes", key: label, bytes, digest: sign(key, variant) };
  }
}

/** Lists the bytes that a plain hash may take in place of an HMAC. */
function listPlainHashes(secret: Uint8Array, body: Uint8Array): [key: string, bytes: Uint8Array][] {
  return [
    ["no secret at all", body],
    ["the secret put before it", concatBytes([secret, body])],
    ["the secret put after it", concatBytes([body, secret])],
  ];
}

/** Finds how a digest was computed; undefined for an unknown mistake. */
export function findMatchingDigest(
  digest: Uint8Array,
  inputs: DigestInputs,
  algorithm: DigestAlgorithm = "sha256",
): DigestCandidate | undefined {
  for (const candidate of listDigestCandidates(inputs, algorithm)) {
    if (areBytesEqual(candidate.digest, digest)) return candidate;
  }
  return undefined;
}

const PREFIX = "whsec_";

/**
 * Keys that a receiver may use instead of the secret: the secret with the usual damage of configuration files and,
 * since the secret given here may itself be damaged, its possible original forms.
 */
function listKeyVariants(secret: string): KeyVariant[] {
  return [...listAdditions(secret), ...listRestorations(secret), ...listConversions(secret)].filter(
    ([, key]) => key !== secret,
  );
}

type KeyVariant = [label: string, key: string | Uint8Array];

/** The secret with what files, shells and templates add to it, and texts that replace one that was not set. */
function listAdditions(secret: string): KeyVariant[] {
  return [
    ["an empty secret", ""],
    ["the secret and a line break after it", `${secret}\n`],
    ["the secret and a carriage return and line break after it", `${secret}\r\n`],
    ["the secret and a space after it", `${secret} `],
    ["the secret and a space before it", ` ${secret}`],
    ["the secret in quotation marks", `"${secret}"`],
    ["the secret in apostrophes", `'${secret}'`],
    ['the text "undefined", as when the secret was not set', "undefined"],
    ['the text "null", as when the secret was not set', "null"],
    ['the text "None", as when the secret was not set', "None"],
  ];
}

/** Conversions of secrets that libraries of other services make. */
function listConversions(secret: string): KeyVariant[] {
  const conversions: KeyVariant[] = [
    ["the secret in lower case", secret.toLowerCase()],
    ["the secret in upper case", secret.toUpperCase()],
    ["the secret encoded in base64", toBase64(toUtf8(secret))],
    ["the secret encoded in hex", toHex(toUtf8(secret))],
    ["the secret and a line break, encoded in base64", toBase64(toUtf8(`${secret}\n`))],
    ["the secret as a whole, decoded from base64", fromLooseBase64(secret)],
  ];
  if (!secret.startsWith(PREFIX)) return conversions;
  const bare = secret.slice(PREFIX.length);
  const stripped = bare.startsWith(PREFIX)
    ? "the secret with its whsec_ prefix once (it was given with it twice)"
    : "the secret without its whsec_ prefix";
  conversions.push(
    [stripped, bare],
    ["the secret with its whsec_ prefix twice", PREFIX + secret],
    ["the secret without its whsec_ prefix, and a line break after it", `${bare}\n`],
    ["the secret's part after whsec_, decoded from base64", fromLooseBase64(bare)],
  );
  if (/^([0-9a-f]{2})+$/i.test(bare))
    conversions.push(["the secret's part after whsec_, decoded from hex", fromHex(bare)]);
  return conversions;
}

/** Lists repairs of the secret given here, which may be the damaged one. */
function listRestorations(secret: string): KeyVariant[] {
  const trimmed = secret.trim();
  const unquoted = /^(["'])(.*)\1$/s.exec(trimmed)?.[2];
  const restorations: KeyVariant[] = [
    ["the secret without the spaces or line ends around it (it was given with them)", trimmed],
  ];
  if (unquoted !== undefined) restorations.push(["the secret without its quotation marks", unquoted]);
  const decoded = fromUtf8(fromLooseBase64(trimmed)).trim();
  if (decoded.startsWith(PREFIX))
    restorations.push(["the secret decoded from base64 (it was given encoded)", decoded]);
  if (!trimmed.startsWith(PREFIX)) {
    const encoded = toBase64(toUtf8(secret));
    restorations.push(
      ["the secret with whsec_ before it (it was given without)", PREFIX + trimmed],
      ["the secret encoded in base64, with whsec_ before it (it was given decoded)", PREFIX + encoded],
      [
        "the secret encoded in base64 without padding, with whsec_ before it (it was given decoded)",
        PREFIX + encoded.replace(/=+$/, ""),
      ],
    );
  }
  return restorations;
}
