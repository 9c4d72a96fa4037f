import { createHash, randomBytes } from "node:crypto";
import { webhookTest } from "../../../engine/resources/webhooks/schema.ts";
import { sign } from "../../../engine/webhooks/sign.ts";
import {
  type Case,
  type Check,
  combineCases,
  defineRefuseCheck,
  expectRefused,
  explainNotAccepted,
} from "../check.ts";
import { SENT_EVENTS, type TestDelivery } from "../delivery.ts";
import { isAccepted } from "../finding.ts";
import type { Session } from "../session.ts";
import { createSignedCase } from "./signature.ts";

// Ways around the verification: other secrets, headers, events and forms of the request, and bodies changed after
// signing.

/** A well-formed signature with a random secret. */
function signWithOtherSecret({ delivery }: { delivery: TestDelivery }): { signature: string } {
  return { signature: sign(`whsec_${randomBytes(16).toString("hex")}`, delivery.body) };
}

/** A delivery without a signature, and one signed with another secret. */
function forge({ label, ...one }: Case): [unsigned: Case, signed: Case] {
  return [
    { ...one, label: `${label}, without a signature`, change: () => ({ signature: null }) },
    { ...one, label: `${label}, signed with another secret`, change: signWithOtherSecret },
  ];
}

type Header = readonly [name: string, value: string];

const LOCAL_ADDRESSES = ["127.0.0.1", "10.0.0.1"];

/** Headers that name the client's address. */
const listAddressHeaders = (ip: string): Header[] => [
  ["X-Forwarded-For", ip],
  ["X-Real-IP", ip],
  ["X-Client-IP", ip],
  ["True-Client-IP", ip],
  ["CF-Connecting-IP", ip],
  ["Forwarded", `for=${ip};proto=https`],
];
const PROXY_HEADERS: readonly Header[] = [
  ["X-Forwarded-Proto", "https"],
  ["X-Forwarded-Host", "localhost"],
  ["X-Forwarded-Port", "443"],
];
const OTHER_HEADERS: readonly Header[] = [
  ["X-Forwarded-Server", "gateway.internal"],
  ["Via", "1.1 gateway.internal"],
  ["X-Envoy-Internal", "true"],
  ["X-Internal-Request", "true"],
  ["X-Debug", "true"],
  ["Authorization", "Bearer internal"],
];

/** Headers that proxies and internal services add, one by one. */
const SINGLE_HEADER_CASES = [
  ...LOCAL_ADDRESSES.flatMap(listAddressHeaders),
  ...PROXY_HEADERS,
  ...OTHER_HEADERS,
].map((header): Case => ({ label: header.join(": "), variant: { headers: [header] } }));
const PROXY_CASES = LOCAL_ADDRESSES.map(
  (ip): Case => ({
    label: `every header of a proxy, from ${ip}`,
    variant: { headers: [...listAddressHeaders(ip), ...PROXY_HEADERS] },
  }),
);
/** For a slow receiver, before a case for each header; those are tried only if one of these fails. */
const ALL_HEADERS_CASES = LOCAL_ADDRESSES.map(
  (ip): Case => ({
    label: `every header that proxies and internal services add, from ${ip}`,
    variant: { headers: [...listAddressHeaders(ip), ...PROXY_HEADERS, ...OTHER_HEADERS] },
  }),
);

/** Secrets from examples, and values that configurations contain when no secret was set. */
const GUESSABLE = [
  "secret",
  "changeme",
  "test",
  "password",
  "undefined",
  "null",
  "None",
  "whsec_",
  "whsec_test",
];

const listWrongSecretCases = ({ options: { secret, webhookId } }: Session): Case[] => [
  { label: "another secret", change: signWithOtherSecret },
  createSignedCase("an empty secret", (_, { delivery }) => sign("", delivery.body)),
  createSignedCase(
    "a plain SHA-256 of the body",
    (_, { delivery }) => `sha256=${createHash("sha256").update(delivery.body).digest("hex")}`,
  ),
  ...[...GUESSABLE, webhookId]
    .filter((guess) => guess !== secret)
    .map((guess) =>
      createSignedCase(`the secret “${guess}”`, (_, { delivery }) => sign(guess, delivery.body)),
    ),
];

/**
 * Wraps a check: a slow receiver first gets one forgery for each event, which together try every secret and header, and two
 * without a signature.
 */
const withCombinedForgeries = combineCases((session) => {
  const secretCases = listWrongSecretCases(session);
  const signed = SENT_EVENTS.map((event, index): Case => {
    const secretCase = secretCases[index % secretCases.length]!;
    // Every third case has no headers of a proxy (the index is past the end), since a receiver may refuse a request for them.
    const headersCase = ALL_HEADERS_CASES[index % (ALL_HEADERS_CASES.length + 1)];
    return { ...headersCase, ...secretCase, label: `${event}, ${secretCase.label}`, shape: { event } };
  });
  const unsigned = ALL_HEADERS_CASES.map((one) => ({
    ...forge(one)[0],
    shape: { event: webhookTest.name },
  }));
  return [...signed, ...unsigned];
}, expectRefused);

export const signatureWrongSecret = withCombinedForgeries(
  defineRefuseCheck({
    id: "signature-wrong-secret",
    title: "Refuses a signature made with another secret",
    severity: "critical",
    why: "Only the secret ties a delivery to the service; a well-formed signature proves nothing, nor does one made with a secret that anyone can guess.",
    advice:
      "Compute the HMAC-SHA256 of the raw body with the webhook's own secret and with no other, compare it in constant time, and don't start without a secret.",
    adviceAppliesTo: ["exception"],
    cases: listWrongSecretCases,
  }),
);

export const signatureBehindProxy = withCombinedForgeries(
  defineRefuseCheck({
    id: "signature-behind-proxy",
    title: "Verifies the signature whatever other headers say",
    severity: "critical",
    why: "Anyone can write X-Forwarded-For and the like; a receiver that trusts requests that seem internal lets attackers in without a signature.",
    advice: "Verify every delivery; let no header except X-Service-Signature influence the result.",
    cases: [...SINGLE_HEADER_CASES, ...PROXY_CASES].flatMap(forge),
    anyNon2xxPasses: true,
  }),
);

export const signatureEveryEvent = withCombinedForgeries(
  defineRefuseCheck({
    id: "signature-every-event",
    title: "Verifies the signature of every event",
    severity: "critical",
    why: "If one event is trusted without a signature, even only the test event, anyone can use it to get in.",
    advice: "Verify the signature before you read the event's name. Exempt no event, not even webhook.test.",
    cases: SENT_EVENTS.flatMap((event) => {
      const [unsigned, signed] = forge({ label: event, shape: { event } });
      return event === webhookTest.name ? [unsigned, signed] : [signed];
    }),
    anyNon2xxPasses: true,
  }),
);

/** Larger than common body parsers read by default. */
const LARGE_BYTES = 128 * 1024;

const IN_CHUNKS = { chunkAt: [10, 100] };
const OLD_TIMESTAMP = { at: Date.parse("2001-01-01T00:00:00Z") };

const FORMS: readonly Case[] = [
  { label: "as text/plain", variant: { contentType: "text/plain" } },
  { label: "as a form", variant: { contentType: "application/x-www-form-urlencoded" } },
  { label: "without a content type", variant: { contentType: null } },
  { label: "in chunks", variant: IN_CHUNKS, skipForSlow: true },
  {
    label: "with a large body",
    shape: { event: "message.created", data: { content: "x".repeat(LARGE_BYTES) } },
  },
  {
    label: "on a connection that carried a genuine delivery",
    variant: { reuse: true },
    skipForSlow: true,
  },
  { label: "with an old timestamp", shape: OLD_TIMESTAMP, skipForSlow: true },
  {
    label: "in chunks, on such a connection, with an old timestamp",
    shape: OLD_TIMESTAMP,
    variant: { ...IN_CHUNKS, reuse: true },
  },
];

export const signatureEveryForm: Check = {
  id: "signature-every-form",
  title: "Verifies the signature in every form of request",
  severity: "critical",
  why: "An attacker chooses content type, framing and size; if one of them bypasses the verification, the attacker will use it.",
  advice: "Read the raw body first, whatever its type, framing and size, verify it, and only then parse.",
  async run(session) {
    // Leaves a connection open, if the receiver keeps any.
    await session.deliver(session.makeDelivery());
    return expectRefused(session, FORMS.flatMap(forge), { anyNon2xxPasses: true });
  },
};

export const bodyChanged: Check = {
  id: "body-changed",
  title: "Refuses a body that was changed after it was signed",
  severity: "critical",
  why: "The signature must protect the content: otherwise a captured delivery can be altered and sent again.",
  advice:
    "Verify the signature over all bytes of every request; never remember a signature, an id or a sender as verified.",
  adviceAppliesTo: ["exception"],
  async run(session) {
    const original = session.makeDelivery();
    const first = await session.deliver(original);
    if (!isAccepted(first)) return explainNotAccepted(session, first, "the unchanged original");
    return expectRefused(session, [
      {
        label: "one byte, after the original was accepted",
        change: () => ({ ...original, ...rewriteBody(changeOneByte)({ delivery: original }) }),
      },
      {
        label: "one byte, without an original before it",
        change: rewriteBody(changeOneByte),
        skipForSlow: true,
      },
      { label: "another event", change: rewriteBody((text) => text.replace(/("event":"\w+)/, "$1s")) },
      {
        label: "blanks between its members",
        change: rewriteBody((text) => JSON.stringify(JSON.parse(text), null, 1)),
      },
      { label: "its members in another order", change: rewriteBody(reverseMembers) },
      { label: "a line end more", change: rewriteBody((text) => `${text}\n`) },
    ]);
  },
};

/** Makes a `change` that rewrites the body to other valid JSON, and keeps the signature of the original. */
const rewriteBody =
  (rewrite: (text: string) => string) =>
  ({ delivery }: { delivery: TestDelivery }) => ({
    body: Buffer.from(rewrite(delivery.body.toString("utf8"))),
  });

function reverseMembers(text: string): string {
  return JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text) as object).reverse()));
}

/** Changes the last character of the first text in `data`, which the receiver works with, else of the timestamp. */
function changeOneByte(text: string): string {
  const value = /"data":\{.*?:"[^"\\]+(?=")|"timestamp":"[^"]+/s.exec(text)!;
  const at = value.index + value[0].length - 1;
  return text.slice(0, at) + (text[at] === "x" ? "y" : "x") + text.slice(at + 1);
}
