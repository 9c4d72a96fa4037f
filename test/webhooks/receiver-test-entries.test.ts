import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  CORRECT_STEPS,
  type Context,
  computeSignature,
  getSentSignature,
  startReceiver,
} from "../support/receivers/flawed/flawed-receiver.ts";
import { grade, SECRET } from "../support/receivers/grade-setup.ts";

/** An entry in a check's list of forgeries: its label, and a receiver that wrongly accepts that forgery. */
interface Entry {
  label: string;
  takes: (context: Context) => boolean;
}

async function gradeAccepting(check: string, takes: Entry["takes"]) {
  const { url, close } = await startReceiver(SECRET, {
    isSigned: (context) => takes(context) || CORRECT_STEPS.isSigned(context),
  });
  try {
    const { checks } = await grade(url, { only: [check] });
    return checks.find(({ id }) => id === check)!;
  } finally {
    await close();
  }
}

/** Lists, for each forgery of the check in sending order, the entries whose receiver accepts it. */
async function listAcceptors(check: string, entries: readonly Entry[]): Promise<string[][]> {
  const taken: string[][] = [];
  const { outcome } = await gradeAccepting(check, (context) => {
    if (CORRECT_STEPS.isSigned(context)) return true;
    taken.push(entries.filter(({ takes }) => takes(context)).map(({ label }) => label));
    return false;
  });
  expect(outcome).toBe("passed");
  return taken;
}

const signWith =
  (secret: (context: Context) => string): Entry["takes"] =>
  (context) =>
    getSentSignature(context) === computeSignature(secret(context), context.body);

const readWebhookId = ({ body }: Context) => String(JSON.parse(`${body}`).webhook_id);

const GUESSES = [
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
const KNOWN_SECRETS: readonly Entry[] = [
  { label: "an empty secret", takes: signWith(() => "") },
  {
    label: "a plain SHA-256 of the body",
    takes: (context) =>
      getSentSignature(context) === `sha256=${createHash("sha256").update(context.body).digest("hex")}`,
  },
  ...GUESSES.map((guess) => ({ label: `the secret “${guess}”`, takes: signWith(() => guess) })),
  { label: "the secret “wh_", takes: signWith(readWebhookId) },
];
const SECRETS: readonly Entry[] = [
  {
    label: "another secret",
    takes: (context) => !KNOWN_SECRETS.some(({ takes }) => takes(context)),
  },
  ...KNOWN_SECRETS,
];

const ADDRESSES = ["127.0.0.1", "10.0.0.1"];
const ADDRESS_HEADERS = ["X-Forwarded-For", "X-Real-IP", "X-Client-IP", "True-Client-IP", "CF-Connecting-IP"];
const PROXY = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "localhost", "X-Forwarded-Port": "443" };
const OTHERS = {
  "X-Forwarded-Server": "gateway.internal",
  Via: "1.1 gateway.internal",
  "X-Envoy-Internal": "true",
  "X-Internal-Request": "true",
  "X-Debug": "true",
  Authorization: "Bearer internal",
};
const makeForwardedHeader = (ip: string) => ["Forwarded", `for=${ip};proto=https`] as const;

const DISGUISES: readonly { label: string; headers: readonly (readonly [string, string])[] }[] = [
  ...[
    ...ADDRESSES.flatMap((ip) => [
      ...ADDRESS_HEADERS.map((name) => [name, ip] as const),
      makeForwardedHeader(ip),
    ]),
    ...Object.entries({ ...PROXY, ...OTHERS }),
  ].map(([name, value]) => ({ label: `${name}: ${value}`, headers: [[name, value] as const] })),
  ...ADDRESSES.map((ip) => ({
    label: `every header of a proxy, from ${ip}`,
    headers: [
      ...ADDRESS_HEADERS.map((name) => [name, ip] as const),
      makeForwardedHeader(ip),
      ...Object.entries(PROXY),
    ],
  })),
];
const NAMES = new Set(DISGUISES.flatMap(({ headers }) => headers.map(([name]) => name.toLowerCase())));

/** Entries whose receiver trusts exactly these headers: once without a signature, once with a wrong one. */
const PROXIED: readonly Entry[] = DISGUISES.flatMap(({ label, headers }) => {
  const isDisguised = ({ request }: Context) =>
    Object.keys(request.headers).filter((name) => NAMES.has(name)).length === headers.length &&
    headers.every(([name, value]) => request.headers[name.toLowerCase()] === value);
  return [
    {
      label: `${label}, without a signature`,
      takes: (context: Context) => getSentSignature(context) === undefined && isDisguised(context),
    },
    {
      label: `${label}, signed with another secret`,
      takes: (context: Context) => getSentSignature(context) !== undefined && isDisguised(context),
    },
  ];
});

describe.each([
  { check: "signature-wrong-secret", entries: SECRETS },
  { check: "signature-behind-proxy", entries: PROXIED },
])("each forgery of $check finds a flaw [6]", ({ check, entries }) => {
  it(`${check} sends exactly one forgery for each entry [6]`, async () => {
    const taken = await listAcceptors(check, entries);
    expect(taken.filter((labels) => labels.length !== 1)).toEqual([]);
    expect(taken.flat().sort()).toEqual(entries.map(({ label }) => label).sort());
  });

  it.each(entries)(`${check} fails a receiver that accepts $label [6]`, async ({ label, takes }) => {
    const { outcome, detail } = await gradeAccepting(check, takes);
    expect(outcome).toBe("failed");
    expect(detail.slice(0, label.length)).toBe(label);
    expect(detail).toContain(": the receiver answered 200 ");
  });
});
