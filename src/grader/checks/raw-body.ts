import { type Check, expectAccepted } from "../check.ts";
import type { DeliveryShape } from "../delivery.ts";

const RAW_BODY_ADVICE =
  "Verify the signature over the bytes as they arrived, before parsing (in Express: express.raw; in Flask: request.get_data(); in Rails: request.raw_post). Never parse and serialise again.";

interface Spelling {
  id: string;
  title: string;
  severity: Check["severity"];
  why: string;
  shapes: { label: string; shape: DeliveryShape }[];
}

/** Integer-like keys come out of JSON.parse in ascending order, so even a JavaScript round trip moves these. */
const REORDERED_BY_PARSING = '{"20":"twenty","10":"ten","user_id":"usr_b","email":"ada@example.com"}';

const SPELLINGS: Spelling[] = [
  {
    id: "body-whitespace",
    title: "Accepts unusual whitespace in the body",
    severity: "critical",
    why: "The signature covers the bytes sent; a receiver that verifies a re-serialised copy breaks as soon as the sender's JSON writer changes.",
    shapes: [
      { label: "indented by tabs", shape: { write: (payload) => JSON.stringify(payload, null, "\t") } },
      {
        label: "CRLF line ends, and blanks before and after",
        shape: {
          write: (payload) => `\r\n ${JSON.stringify(payload, null, 3).replaceAll("\n", "\r\n")} \r\n\n`,
        },
      },
    ],
  },
  {
    id: "body-key-order",
    title: "Accepts any order of keys",
    severity: "critical",
    why: "JSON objects have no order; a receiver that sorts or rebuilds them before verifying refuses genuine deliveries.",
    shapes: [
      {
        label: "top-level keys reversed",
        shape: { write: (payload) => JSON.stringify(Object.fromEntries(Object.entries(payload).reverse())) },
      },
      {
        label: "integer-like keys out of order",
        shape: {
          write: (payload) => JSON.stringify({ ...payload, data: "%" }).replace('"%"', REORDERED_BY_PARSING),
        },
      },
    ],
  },
  {
    id: "body-unicode-escapes",
    title: "Accepts unicode escapes and other spellings of the same value",
    severity: "critical",
    why: "é and \\u00e9, / and \\/, 1 and 1.0 are the same JSON value in different bytes; only the bytes are signed.",
    shapes: [
      {
        label: "escapes",
        shape: {
          data: { user_id: "usr_b", email: "ada@example.com", name: "%", homepage: "%%", score: 1 },
          write: (payload) =>
            JSON.stringify(payload)
              .replace('"%%"', '"https:\\/\\/example.com\\/ada"')
              .replace('"%"', '"Ad\\u00e0 \\u6f22 \\ud83d\\ude00 \\u0026 \\u003cb\\u003e"')
              .replace('"score":1', '"score":1.0e0'),
        },
      },
    ],
  },
  {
    id: "body-utf8",
    title: "Accepts characters outside ASCII as plain UTF-8",
    severity: "major",
    why: "Names and messages hold any character; reading the body in another encoding, or as text at all, changes the bytes under the signature.",
    shapes: [
      {
        label: "UTF-8",
        shape: {
          data: { user_id: "usr_b", email: "ada@example.com", name: "Adà Löwenstein 漢字 😀 \u2028" },
        },
      },
    ],
  },
];

export const rawBody: Check[] = SPELLINGS.map(({ shapes, ...about }) => ({
  ...about,
  advice: RAW_BODY_ADVICE,
  run: (session) =>
    expectAccepted(
      session,
      shapes.map(({ label, shape }) => ({ label, delivery: session.makeDelivery(shape) })),
    ),
}));
