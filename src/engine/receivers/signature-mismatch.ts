import { fromHex, fromLooseBase64, toHex, toLatin1 } from "../bytes.ts";
import { pluralize } from "../contract/text.ts";
import { type DigestAlgorithm, hmac } from "../platform.ts";
import { type DigestCandidate, type DigestInputs, findMatchingDigest } from "./digest-candidates.ts";

const PREFIX = "sha256=";
const HEX_LENGTH = 64;

const FIX_FORM = "Write `sha256=` and the 64 lower-case hex digits of the HMAC-SHA256, and nothing else.";
const FIX_KEY =
  "Use the webhook's secret exactly as it was shown at creation: the whole text, whsec_ included, nothing decoded, trimmed or added.";

/** The change that the signer has to make, by the cause of the verdict. */
export const FIXES = {
  match: "Nothing.",
  "no-header": "Send the signature in the X-Service-Signature header.",
  "empty-header": "Send the signature in the X-Service-Signature header.",
  "repeated-header": "Send one X-Service-Signature header with one value.",
  "no-secret": "Say which secret to check the signature with.",
  "surrounding-space": FIX_FORM,
  "no-prefix": FIX_FORM,
  "wrong-prefix": FIX_FORM,
  "upper-case": FIX_FORM,
  "wrong-encoding": FIX_FORM,
  truncated: FIX_FORM,
  "wrong-length": FIX_FORM,
  "wrong-algorithm": "Use HMAC-SHA256, keyed with the secret.",
  "wrong-secret": FIX_KEY,
  swapped: "Pass the secret as the key of the HMAC, and the body's bytes as its data.",
  "body-changed":
    "Take the HMAC over the body's bytes as they travel: before anything parses, trims or decodes them, and without anything added.",
  mismatch: "Compare, on both sides, the secret and the bytes that go into the HMAC.",
};

/** The cause of a signature's verdict; stable names for tests, reports and the receiver grader. */
export type VerdictCode = keyof typeof FIXES;

export interface Explanation {
  code: VerdictCode;
  /** One sentence for a person; never contains a secret. */
  reason: string;
  /** The change that the signer has to make. */
  fix: string;
}

type Finding = Omit<Explanation, "fix">;

/** A digest as bytes, from any encoding. */
interface Reading {
  digest: Uint8Array;
  algorithm: DigestAlgorithm;
}

const ALGORITHMS: Readonly<Record<number, DigestAlgorithm>> = {
  16: "md5",
  20: "sha1",
  32: "sha256",
  48: "sha384",
  64: "sha512",
};

/** Finds the most likely cause of a signature that does not match; form first, then key, then bytes (section 6.3). */
export function explainMismatch({ value, ...inputs }: DigestInputs & { value: string }): Explanation {
  if (value !== value.trim())
    return addFix({ code: "surrounding-space", reason: "the header's value has spaces around it" });
  if (value.includes(","))
    return addFix({ code: "repeated-header", reason: "the header holds several values separated by commas" });
  const { text, wrapping } = unwrap(
    removePrefixes(value.startsWith(PREFIX) ? value.slice(PREFIX.length) : value),
  );
  const reading = readDigest(text);
  const candidate = reading && findMatchingDigest(reading.digest, inputs, reading.algorithm);
  const forms = [explainPrefix(value), explainForm(text, { reading, candidate, inputs, wrapping })].filter(
    (finding) => finding !== null,
  );
  const candidateFinding = explainCandidate(candidate, inputs);
  const [first] = forms;
  if (first === undefined)
    return addFix(candidateFinding, candidate?.mistake === "key-and-bytes" ? ["body-changed"] : []);
  const hasOtherMistake = candidate !== undefined && candidate.mistake !== "none";
  const reasons = forms.map(({ reason }) => reason);
  if (hasOtherMistake) reasons.push(describeCandidate(candidate, reading!.algorithm));
  const codes = [...forms, ...(hasOtherMistake ? [candidateFinding] : [])].map(({ code }) => code);
  return addFix({ code: first.code, reason: reasons.join("; also, ") }, codes);
}

/** @param others codes of further mistakes */
function addFix(finding: Finding, others: readonly VerdictCode[] = []): Explanation {
  const fixes = [finding.code, ...others].map((code) => FIXES[code]);
  return { ...finding, fix: [...new Set(fixes)].join(" ") };
}

const BYTES_APART = /^(?:[0-9a-f]{2}[-: ])+[0-9a-f]{2}$/i;

/** Removes `sha256=`, `v1=`, `sha512: ` and the like. */
function removePrefixes(value: string): string {
  return BYTES_APART.test(value) ? value : value.replace(/^(?:[A-Za-z][\w-]{0,30}\s*[=:]\s*)+(?=["'\w])/, "");
}

/** Removes what languages write around a digest or between its bytes. */
function unwrap(text: string): { text: string; wrapping: string | undefined } {
  const quoted = /^b?(["'])(.*)\1$/.exec(text)?.[2];
  if (quoted !== undefined) return { text: quoted, wrapping: "quotes around it" };
  if (/^0x[0-9a-f]+$/i.test(text)) return { text: text.slice(2), wrapping: "0x before it" };
  if (!BYTES_APART.test(text)) return { text, wrapping: undefined };
  return { text: text.replaceAll(/[-: ]/g, ""), wrapping: `"${text[2]}" between its bytes` };
}

/** Explains a missing, wrong or second prefix; null if the prefix is right. */
function explainPrefix(value: string): Finding | null {
  if (value.startsWith(PREFIX)) {
    const rest = value.slice(PREFIX.length);
    const second = rest.slice(0, rest.length - removePrefixes(rest).length);
    if (second === "") return null;
    return { code: "wrong-prefix", reason: `the digest must follow "${PREFIX}"; "${second}" follows` };
  }
  const prefix = /^([A-Za-z][\w-]{0,30})\s*[=:]/.exec(value)?.[1];
  if (prefix === undefined)
    return { code: "no-prefix", reason: `the value must start with "${PREFIX}"; it has no prefix` };
  const spelling = prefix.toLowerCase() === "sha256" ? " (exactly so: lower case, then =)" : "";
  return {
    code: "wrong-prefix",
    reason: `the value must start with "${PREFIX}"${spelling}; it starts with "${value.slice(0, prefix.length + 1)}"`,
  };
}

/** Explains a wrong encoding, case or length of the digest; null if the cause is another. */
function explainForm(
  text: string,
  context: {
    reading: Reading | undefined;
    candidate: DigestCandidate | undefined;
    inputs: DigestInputs;
    wrapping: string | undefined;
  },
): Finding | null {
  const { reading, candidate, inputs, wrapping } = context;
  if (wrapping !== undefined)
    return { code: "wrong-encoding", reason: `the digest must be lowercase hex alone; it has ${wrapping}` };
  if (!/^[0-9a-f]*$/i.test(text)) return explainEncoding(text, context);
  if (text.length === HEX_LENGTH) {
    if (candidate?.mistake !== "none" || text === text.toLowerCase()) return null;
    return {
      code: "upper-case",
      reason: "the digest is right but must be lowercase hex; it has upper-case letters",
    };
  }
  const expected = toHex(hmac("sha256", inputs.secret, inputs.body));
  if (text !== "" && expected.startsWith(text.toLowerCase()))
    return {
      code: "truncated",
      reason: `the digest is cut off: right so far, but ${text.length} of ${HEX_LENGTH} characters`,
    };
  if (reading !== undefined) {
    const suffix =
      candidate?.mistake === "none" ? ` (this is the HMAC with ${reading.algorithm} of the body)` : "";
    return {
      code: "wrong-algorithm",
      reason: `the digest has ${text.length} characters, the length of ${reading.algorithm}; SHA-256 has ${HEX_LENGTH}${suffix}`,
    };
  }
  const excess = text.toLowerCase().startsWith(expected) ? ": the right digest, and more behind it" : "";
  return {
    code: "wrong-length",
    reason: `the digest has ${pluralize(text.length, "character")} instead of ${HEX_LENGTH}${excess}`,
  };
}

function explainEncoding(text: string, { candidate }: { candidate: DigestCandidate | undefined }): Finding {
  const isBase64 = /^[A-Za-z0-9+/_-]{40,}={0,2}$/.test(text);
  const base64 = candidate?.mistake === "none" ? "the right digest in base64" : "what looks like base64";
  const encoding = isBase64 ? base64 : "characters that are not hex";
  return { code: "wrong-encoding", reason: `the digest must be lowercase hex; it holds ${encoding}` };
}

/** The cause apart from the form: another hash, key or bytes. */
function explainCandidate(candidate: DigestCandidate | undefined, { body }: DigestInputs): Finding {
  switch (candidate?.mistake) {
    case "hash":
      return {
        code: "wrong-algorithm",
        reason: `this is a plain SHA-256 of the body with ${candidate.key}; an HMAC with the secret is needed`,
      };
    case "swapped":
      return {
        code: "swapped",
        reason: "key and data are swapped: the secret was signed with the body as the key",
      };
    case "key":
      return { code: "wrong-secret", reason: `wrong secret: the body was signed with ${candidate.key}` };
    case "bytes":
      return {
        code: "body-changed",
        reason: `the body changed after signing, or other bytes were signed: the signature fits ${candidate.bytes}`,
      };
    case "key-and-bytes":
      return {
        code: "wrong-secret",
        reason: `two mistakes at once: ${describeCandidate(candidate, "sha256")}`,
      };
    default:
      return {
        code: "mismatch",
        reason: `the digest does not fit these ${body.length} bytes: another secret was used, or the body changed after signing`,
      };
  }
}

function describeCandidate({ mistake, key, bytes }: DigestCandidate, algorithm: DigestAlgorithm): string {
  const hash = mistake === "hash" ? "a plain hash" : `an HMAC with ${algorithm}`;
  return `the digest is ${hash}, made with ${key} over ${bytes}`;
}

/** Hex, base64, base64url, or base64 of the hex; undefined if the length is not that of a digest. */
function readDigest(text: string): Reading | undefined {
  const isHex = /^([0-9a-f]{2})+$/i.test(text);
  const bytes = isHex ? fromHex(text) : fromLooseBase64(text);
  const decodedText = toLatin1(bytes);
  const digest = !isHex && /^[0-9a-f]{64}$/i.test(decodedText) ? fromHex(decodedText) : bytes;
  const algorithm = ALGORITHMS[digest.length];
  const isClean = isHex || /^[A-Za-z0-9+/_-]+={0,2}$/.test(text);
  return algorithm === undefined || !isClean ? undefined : { digest, algorithm };
}
