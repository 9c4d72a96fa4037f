import { createHmac } from "node:crypto";
import type { Flaw } from "./flaw.ts";
import { CORRECT_STEPS, type Context, computeSignature } from "./flawed-receiver.ts";

const KNOWN_EVENTS = /^(user|message|usage)\./;

export const contentFlaws: Flaw[] = [
  {
    name: "refuses events it does not know",
    fails: ["unknown-event"],
    steps: { consider: (_context, { event }) => (KNOWN_EVENTS.test(event) ? null : [422, "unknown event"]) },
  },
  {
    name: "answers 410 to events it does not know",
    fails: ["unknown-event", "gone-stops-delivery"],
    steps: { consider: (_context, { event }) => (KNOWN_EVENTS.test(event) ? null : [410]) },
  },
  {
    name: "answers 410 to forgeries",
    fails: ["gone-stops-delivery"],
    steps: { refuseSignature: () => [410] },
  },
  {
    name: "refuses fields it does not know",
    fails: ["extra-fields"],
    steps: {
      consider: (_context, payload) => (Object.keys(payload).length > 5 ? [422, "unknown field"] : null),
    },
  },
  {
    name: "answers 500 to malformed JSON",
    fails: ["malformed-json"],
    steps: { refuseJson: () => [500] },
  },
  {
    name: "accepts malformed JSON",
    fails: ["malformed-json"],
    steps: { refuseJson: () => [200] },
  },
  {
    name: "crashes on malformed JSON",
    fails: ["malformed-json"],
    steps: { refuseJson: crash },
  },
  {
    name: "refuses malformed JSON and then crashes",
    fails: ["malformed-json"],
    steps: {
      refuseJson({ server, response }) {
        response.once("finish", () => server.close());
        return [400];
      },
    },
  },
  {
    name: "accepts deliveries by PUT",
    fails: ["method-post-only"],
    steps: { takes: ({ request }) => request.method === "POST" || request.method === "PUT" },
  },
  {
    name: "accepts deliveries by any method, unsigned except by POST",
    fails: ["method-post-only"],
    steps: {
      takes: () => true,
      isSigned: (context) => context.request.method !== "POST" || CORRECT_STEPS.isSigned(context),
      refuseJson: ({ request }) => (request.method === "GET" ? [200, "all is well"] : [400]),
    },
  },
  {
    name: "fails on GET",
    fails: ["method-post-only"],
    steps: { get: () => [500] },
  },
  {
    name: "prints the secret",
    fails: ["secret-not-disclosed"],
    steps: { get: ({ secret }) => [405, `debug: WEBHOOK_SECRET=${secret}`] },
  },
  {
    name: "prints the secret in a header, in base64",
    fails: ["secret-not-disclosed"],
    steps: {
      refuseSignature: ({ secret }) => [401, "", { "X-Debug": Buffer.from(secret).toString("base64") }],
    },
  },
  {
    name: "shows the expected signature",
    fails: ["signature-not-disclosed"],
    steps: { refuseSignature: ({ secret, body }) => [401, `expected ${computeSignature(secret, body)}`] },
  },
  {
    name: "shows the expected signature in upper case",
    fails: ["signature-not-disclosed"],
    steps: {
      refuseSignature: ({ secret, body }) => [
        401,
        `EXPECTED ${computeSignature(secret, body).toUpperCase()}`,
      ],
    },
  },
  {
    name: "shows the beginning of the expected signature",
    fails: ["signature-not-disclosed"],
    steps: {
      refuseSignature: ({ secret, body }) => [
        401,
        `expected ${computeSignature(secret, body).slice(0, 15)}…`,
      ],
    },
  },
  {
    name: "shows the end of the expected signature in a header",
    fails: ["signature-not-disclosed"],
    steps: {
      refuseSignature: ({ secret, body }) => [
        401,
        "",
        { "X-Expected": `...${computeSignature(secret, body).slice(-6).toUpperCase()}` },
      ],
    },
  },
  {
    name: "shows the expected signature in base64",
    fails: ["signature-not-disclosed"],
    steps: {
      refuseSignature: ({ secret, body }) => [
        401,
        createHmac("sha256", secret).update(body).digest("base64"),
      ],
    },
  },
  {
    name: "prints half of the secret",
    fails: ["secret-not-disclosed"],
    steps: { refuseSignature: ({ secret }) => [401, `using ${secret.slice(0, 14)}********`] },
  },
];

function crash({ server, request }: Context): never {
  server.close();
  server.closeAllConnections();
  request.socket.destroy();
  throw new SyntaxError("Unexpected end of JSON input");
}
