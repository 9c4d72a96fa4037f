import { type Case, type Check, expectRefused, isAccepted, judgeNotAccepted, refuses } from "../check.ts";
import { SENT_EVENTS, type TestDelivery } from "../delivery.ts";
import { signWithOther } from "./signature.ts";

// Ways around the verification: other headers, events and forms of the request, and bodies changed after signing.

/** A delivery without a signature, and one signed with another secret. */
function forge({ label, ...one }: Case): Case[] {
  return [
    { ...one, label: `${label}, without a signature`, change: () => ({ signature: null }) },
    { ...one, label: `${label}, signed with another secret`, change: signWithOther },
  ];
}

type Header = readonly [name: string, value: string];

const FORWARDED = ["X-Forwarded-For", "X-Real-IP", "X-Client-IP", "True-Client-IP", "CF-Connecting-IP"];
const LOCAL = ["127.0.0.1", "10.0.0.1"];

const SINGLE_HEADERS: readonly Header[] = [
  ...FORWARDED.flatMap((name) => LOCAL.map((ip): Header => [name, ip])),
  ...LOCAL.map((ip): Header => ["Forwarded", `for=${ip};proto=https`]),
  ["X-Forwarded-Proto", "https"],
  ["X-Forwarded-Host", "localhost"],
  ["X-Forwarded-Port", "443"],
  ["X-Forwarded-Server", "gateway.internal"],
  ["Via", "1.1 gateway.internal"],
  ["X-Envoy-Internal", "true"],
  ["X-Internal-Request", "true"],
  ["X-Debug", "true"],
  ["Authorization", "Bearer internal"],
];

/** Headers that proxies and colleagues add, one by one. */
const ALONE = SINGLE_HEADERS.flatMap((header) =>
  forge({ label: `${header[0]}: ${header[1]}`, transport: { headers: [header] } }),
);
const ALL_OF_PROXY = LOCAL.flatMap((ip) =>
  forge({
    label: `every header of a proxy, from ${ip}`,
    transport: {
      headers: [
        ...FORWARDED.map((name): Header => [name, ip]),
        ["Forwarded", `for=${ip};proto=https`] as const,
        ["X-Forwarded-Proto", "https"] as const,
        ["X-Forwarded-Host", "localhost"] as const,
        ["X-Forwarded-Port", "443"] as const,
      ],
    },
  }),
);
/** One request in place of those without an address, for a receiver that takes its time. */
const ALL_OTHERS = forge({
  label: "every other header that colleagues add",
  transport: { headers: SINGLE_HEADERS.filter(([, value]) => !LOCAL.some((ip) => value.includes(ip))) },
});

export const signatureBehindProxy: Check = {
  id: "signature-behind-proxy",
  title: "Verifies the signature whatever other headers say",
  severity: "critical",
  why: "Anyone can write X-Forwarded-For and the like; a receiver that trusts requests that seem internal asks attackers for no signature.",
  advice: "Verify every delivery; let no header except X-Service-Signature influence the result.",
  async run(session) {
    if (!session.isSlow) return expectRefused(session, [...ALONE, ...ALL_OF_PROXY], { anyRefusal: true });
    const together = await expectRefused(session, [...ALL_OF_PROXY, ...ALL_OTHERS], { anyRefusal: true });
    if (together.outcome !== "failed") return together;
    const alone = await expectRefused(session, ALONE, { anyRefusal: true });
    return alone.outcome === "failed" ? alone : together;
  },
};

export const signatureEveryEvent = refuses({
  id: "signature-every-event",
  title: "Verifies the signature of every event",
  severity: "critical",
  why: "If one event is trusted without a signature, even only the test event, anyone can use it to get in.",
  advice: "Verify the signature before you read the event's name. Exempt no event, not even webhook.test.",
  cases: SENT_EVENTS.flatMap((event) => {
    const [unsigned, signed] = forge({ label: event, shape: { event } }) as [Case, Case];
    return event === "webhook.test" ? [unsigned, signed] : [signed];
  }),
  anyRefusal: true,
});

/** Larger than common body parsers read by default. */
const LARGE_BYTES = 128 * 1024;

const FORMS: readonly Case[] = [
  { label: "as text/plain", transport: { contentType: "text/plain" } },
  { label: "as a form", transport: { contentType: "application/x-www-form-urlencoded" } },
  { label: "without a content type", transport: { contentType: null } },
  { label: "in chunks", transport: { chunkAt: [10, 100] } },
  {
    label: "with a large body",
    shape: { event: "message.created", data: { content: "x".repeat(LARGE_BYTES) } },
  },
  { label: "on a connection that carried a genuine delivery", transport: { reuse: true } },
  { label: "with an old timestamp", shape: { at: Date.parse("2001-01-01T00:00:00Z") } },
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
    return expectRefused(session, FORMS.flatMap(forge), { anyRefusal: true });
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
    if (!isAccepted(first)) return judgeNotAccepted(session, first, "the unchanged original");
    return expectRefused(session, [
      {
        label: "one byte, after the original was accepted",
        change: () => ({ ...original, ...rewriteBody(changeOneByte)({ delivery: original }) }),
      },
      { label: "one byte, without an original before it", change: rewriteBody(changeOneByte) },
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

/** The body stays valid JSON, the signature stays the original's. */
const rewriteBody =
  (rewrite: (text: string) => string) =>
  ({ delivery }: { delivery: TestDelivery }) => ({
    body: Buffer.from(rewrite(delivery.body.toString("utf8"))),
  });

function reverseMembers(text: string): string {
  return JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text) as object).reverse()));
}

/** The last character of the first text in the data, which the receiver works with. */
function changeOneByte(text: string): string {
  const value = /"data":\{.*?:"[^"\\]+(?=")|"timestamp":"[^"]+/s.exec(text)!;
  const at = value.index + value[0].length - 1;
  return text.slice(0, at) + (text[at] === "x" ? "y" : "x") + text.slice(at + 1);
}
