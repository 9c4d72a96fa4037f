import type { Payload } from "../../../engine/resources/webhooks/deliveries.ts";
import { type Check, combineCases, defineAcceptCheck, expectAccepted } from "../check.ts";
import type { RequestVariant, TestDelivery } from "../delivery.ts";

// Genuine deliveries whose bodies are unusual.

/** The fix wherever something changes the bytes before they are verified. */
const RAW_BODY: Pick<Check, "advice" | "adviceAppliesTo"> = {
  advice:
    "Verify the signature over the bytes as they arrived, before parsing (in Express: express.raw; in Flask: request.get_data(); in Rails: request.raw_post). Never parse and serialise again.",
  adviceAppliesTo: ["unauthorized", "bad-request"],
};

/** Each of NFC, NFD, NFKC and NFKD changes at least one of these names. */
const UNICODE_FORMS = [
  { label: "a letter and a combining accent", name: "Ze\u0301lie A\u030angstro\u0308m" },
  { label: "composed letters", name: "Z\u00e9lie \u00c5ngstr\u00f6m \ud55c\uae00" },
  { label: "signs that stand for letters", name: "\u212bngstr\u00f6m \u2126 \ufb01n \uff71\uff72 \u2460" },
];

/**
 * One delivery with everything that the wrapped checks try one by one: a slow receiver that accepts it passes them all.
 */
const combineUnusual = combineCases((session) => {
  const delivery = session.makeDelivery({
    event: "user.updated",
    data: { name: UNICODE_FORMS.map(({ name }) => name).join(" 漢字 😀 \u2028 ") },
    write(payload) {
      const data = reverseKeys(payload.data);
      return JSON.stringify(addFields({ ...reverseKeys(payload), data }));
    },
  });
  const variant: RequestVariant = {
    chunkAt: cutCharacters(delivery),
    contentType: 'Application/JSON;charset="UTF-8"',
    headerNames: (name) => name.toUpperCase(),
  };
  return [{ label: "unusual in every way", change: () => delivery, variant }];
}, expectAccepted);

export const defineCombinableAcceptCheck = (check: Parameters<typeof defineAcceptCheck>[0]): Check =>
  combineUnusual(defineAcceptCheck(check));

function addFields(payload: Payload): object {
  return {
    ...payload,
    data: { ...payload.data, nickname: null, labels: ["new"], address: { city: "Bern" } },
    api_version: "2031-01-01",
    attempt: { number: 1 },
  };
}

function reverseKeys<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).reverse()) as T;
}

/** Positions after the first byte of every tenth multi-byte character. */
function cutCharacters({ body }: TestDelivery): number[] {
  const leadBytes = [...body.keys()].filter((index) => body[index]! >= 0xc0);
  return leadBytes.filter((_, index) => index % 10 === 0).map((index) => index + 1);
}

export const bodyWhitespace = defineAcceptCheck({
  ...RAW_BODY,
  id: "body-whitespace",
  title: "Accepts unusual whitespace in the body",
  severity: "critical",
  why: "The signature covers the bytes sent; a receiver that verifies a re-serialised copy breaks as soon as the sender's JSON writer changes.",
  cases: [
    {
      label: "indented by tabs",
      shape: { write: (payload) => JSON.stringify(payload, null, "\t") },
      skipForSlow: true,
    },
    {
      label: "CRLF line ends, and blanks before and after",
      shape: {
        write: (payload) => `\r\n ${JSON.stringify(payload, null, 3).replaceAll("\n", "\r\n")} \r\n\n`,
      },
    },
  ],
});

export const bodyKeyOrder = defineCombinableAcceptCheck({
  ...RAW_BODY,
  id: "body-key-order",
  title: "Accepts any order of keys",
  severity: "critical",
  why: "JSON objects have no order; a receiver that sorts or rebuilds them before verifying refuses genuine deliveries.",
  cases: [
    { label: "keys reversed", shape: { write: (payload) => JSON.stringify(reverseKeys(payload)) } },
    {
      label: "keys of the data reversed",
      shape: { write: (payload) => JSON.stringify({ ...payload, data: reverseKeys(payload.data) }) },
    },
  ],
});

export const bodyUnicodeEscapes = defineAcceptCheck({
  ...RAW_BODY,
  id: "body-unicode-escapes",
  title: "Accepts unicode escapes and other spellings of the same value",
  severity: "critical",
  why: "é and \\u00e9, / and \\/, 1 and 1.0 are the same JSON value in different bytes; only the bytes are signed.",
  cases: [
    {
      label: "escapes",
      shape: {
        event: "user.updated",
        data: { name: "Ad\u00e0 \u6f22 \u{1f600} & <b> n/a" },
        write: escapeCharacters,
      },
    },
    {
      label: "numbers as 1000.0 and 8e2",
      shape: {
        event: "usage.threshold",
        data: { monthly_limit: 1000, current_usage: 800 },
        write: (payload) =>
          JSON.stringify(payload)
            .replace('"monthly_limit":1000', '"monthly_limit":1000.0')
            .replace('"current_usage":800', '"current_usage":8e2'),
      },
    },
  ],
});

function escapeCharacters(payload: Payload): string {
  const toEscape = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(payload)
    .replaceAll("/", "\\/")
    .replaceAll(/[\u0080-\uffff&<>@]/g, toEscape);
}

export const bodyUtf8 = defineCombinableAcceptCheck({
  ...RAW_BODY,
  id: "body-utf8",
  title: "Accepts characters outside ASCII as plain UTF-8",
  severity: "major",
  why: "Names and messages contain any character; reading the body in another encoding, or as text at all, changes the bytes under the signature.",
  cases: [
    { label: "UTF-8", shape: { event: "user.updated", data: { name: "Adà Löwenstein 漢字 😀 \u2028" } } },
  ],
});

export const bodyUnicodeForms = defineCombinableAcceptCheck({
  ...RAW_BODY,
  id: "body-unicode-forms",
  title: "Accepts characters in any Unicode form",
  severity: "major",
  why: "é can be one character or two; if the receiver, or a gateway in front of it, normalises text, it changes the bytes under the signature and refuses exactly these deliveries.",
  cases: UNICODE_FORMS.map(({ label, name }) => ({
    label,
    shape: { event: "user.updated", data: { name } },
  })),
});

export const extraFields = defineCombinableAcceptCheck({
  id: "extra-fields",
  title: "Accepts fields it doesn't know",
  severity: "major",
  why: "Fields are added without notice; strict validation turns such an addition into an outage.",
  advice: "Validate the fields that you use and ignore the others, at the top level and within data.",
  adviceAppliesTo: ["bad-request", "invalid", "exception"],
  cases: [
    {
      label: "additional fields at the top and in data",
      shape: { write: (payload) => JSON.stringify(addFields(payload)) },
    },
  ],
});

/** Size of the whole body in bytes: above the 100 KB of common parsers, and just within limits called 1 MB. */
const SIZES = [256 * 1024, 990_000];

export const bodyLarge = defineAcceptCheck({
  id: "body-large",
  title: "Accepts a large body (up to 1 MB)",
  severity: "major",
  why: "Event data grows with the object; common body parsers stop at 100 KB, and such a delivery then fails on all six attempts.",
  advice:
    "Raise the body limit of this route (1 MB is a sensible bound) in the framework and in the proxies in front of it.",
  adviceAppliesTo: ["too-large", "hung-up", "bad-request", "unauthorized", "exception"],
  cases: (session) =>
    SIZES.map((bytes, index) => {
      const event = "message.created";
      const empty = session.makeDelivery({ event, data: { content: "" } }).body.length;
      const delivery = session.makeDelivery({ event, data: { content: "x".repeat(bytes - empty) } });
      return {
        label: `${delivery.body.length} bytes`,
        change: () => delivery,
        skipForSlow: index < SIZES.length - 1,
      };
    }),
});

export const bodyChunked = defineCombinableAcceptCheck({
  id: "body-chunked",
  title: "Accepts a chunked body, cut anywhere",
  severity: "major",
  why: "A sender or proxy may use chunked transfer coding; then there is no Content-Length, and a chunk can end within a character.",
  advice:
    "Read the body to its end, whatever its framing, and join the pieces as bytes; never append them as text.",
  adviceAppliesTo: [
    "no-length",
    "bad-request",
    "unauthorized",
    "hung-up",
    "method",
    "exception",
    "too-large",
  ],
  cases: (session) => {
    const delivery = session.makeDelivery({ event: "user.updated", data: { name: "漢字 😀 ".repeat(40) } });
    return [
      {
        label: "chunks that end within characters",
        change: () => delivery,
        variant: { chunkAt: cutCharacters(delivery) },
      },
    ];
  },
});
