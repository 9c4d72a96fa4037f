import { setTimeout as wait } from "node:timers/promises";
import {
  type Context,
  type Payload,
  RIGHT_STEPS,
  rightSignature,
  type Steps,
  sentSignature,
} from "./flawed-receiver.ts";

export interface Flaw {
  name: string;
  /** Exactly the checks that must fail: no less, and no false alarm either. */
  fails: string[];
  steps: Partial<Steps>;
}

const signatureFlaws: Flaw[] = [
  {
    name: "takes a missing header for nothing to verify",
    fails: ["signature-missing"],
    steps: {
      isSigned: (context) => sentSignature(context) === undefined || RIGHT_STEPS.isSigned(context),
    },
  },
  {
    name: "takes a falsy header for nothing to verify",
    fails: ["signature-missing", "signature-empty"],
    steps: { isSigned: (context) => !sentSignature(context) || RIGHT_STEPS.isSigned(context) },
  },
  {
    name: "takes a bare prefix for nothing to verify",
    fails: ["signature-empty"],
    steps: { isSigned: (context) => sentSignature(context) === "sha256=" || RIGHT_STEPS.isSigned(context) },
  },
  {
    name: "compares as many characters as were sent",
    fails: ["signature-truncated"],
    steps: {
      isSigned(context) {
        const sent = sentSignature(context) ?? "";
        return sent.length > 10 && rightSignature(context.secret, context.body).startsWith(sent);
      },
    },
  },
  {
    name: "throws in the comparison of unequal lengths",
    fails: [
      "signature-missing",
      "signature-empty",
      "signature-truncated",
      "signature-wrong-prefix",
      "signature-wrong-encoding",
    ],
    steps: {
      isSigned(context) {
        if ((sentSignature(context) ?? "").length !== 71)
          throw new RangeError("must have the same byte length");
        return RIGHT_STEPS.isSigned(context);
      },
    },
  },
  {
    name: "looks only at what follows the equals sign",
    fails: ["signature-wrong-prefix"],
    steps: {
      isSigned(context) {
        return (
          sentSignature(context)?.split("=").at(-1) === rightSignature(context.secret, context.body).slice(7)
        );
      },
    },
  },
  {
    name: "takes base64 as well",
    fails: ["signature-wrong-encoding"],
    steps: {
      isSigned(context) {
        const sent = sentSignature(context) ?? "";
        const asHex = `sha256=${Buffer.from(sent.slice(7), "base64").toString("hex")}`;
        return RIGHT_STEPS.isSigned(context) || asHex === rightSignature(context.secret, context.body);
      },
    },
  },
  {
    name: "ignores the letter case of the digest",
    fails: ["signature-upper-case"],
    steps: {
      isSigned: (context) =>
        sentSignature(context)?.toLowerCase() === rightSignature(context.secret, context.body),
    },
  },
  {
    name: "looks only at the form of the signature",
    fails: ["signature-wrong-secret", "body-changed"],
    steps: { isSigned: (context) => /^sha256=[0-9a-f]{64}$/.test(sentSignature(context) ?? "") },
  },
  {
    name: "has an empty secret beside the right one",
    fails: ["signature-wrong-secret"],
    steps: {
      isSigned: (context) =>
        RIGHT_STEPS.isSigned(context) || sentSignature(context) === rightSignature("", context.body),
    },
  },
  {
    name: "remembers signatures that were right once",
    fails: ["body-changed"],
    steps: {
      isSigned(context) {
        const key = `verified ${sentSignature(context)}`;
        if (RIGHT_STEPS.isSigned(context)) context.memory.scratch.set(key, true);
        return context.memory.scratch.has(key);
      },
    },
  },
  {
    name: "refuses forgeries and processes them all the same",
    fails: [
      "signature-missing",
      "signature-empty",
      "signature-truncated",
      "signature-wrong-prefix",
      "signature-wrong-encoding",
      "signature-upper-case",
      "signature-wrong-secret",
      "body-changed",
    ],
    steps: {
      refuseSignature(context) {
        const payload = JSON.parse(context.body.toString()) as Payload;
        // Under the same id only once, so that only the checks of the refusals can see it.
        if (!context.memory.known.has(payload.delivery_id) || payload.data["email"] === "eda@example.com") {
          context.memory.known.add(payload.delivery_id);
          context.memory.processed.push(payload.delivery_id);
        }
        return [401];
      },
    },
  },
];

/** Verifies the signature over another text than the raw body. */
const verifyOver = (rewrite: (body: Buffer) => string | Buffer): Partial<Steps> => ({
  isSigned({ body, secret, ...context }) {
    const rewritten = Buffer.from(rewrite(body) as string);
    return sentSignature({ body, secret, ...context }) === rightSignature(secret, rewritten);
  },
});

const bodyFlaws: Flaw[] = [
  {
    name: "verifies the body written anew",
    fails: ["body-whitespace", "body-key-order", "body-unicode-escapes", "malformed-json"],
    steps: verifyOver((body) => JSON.stringify(JSON.parse(body.toString()))),
  },
  {
    name: "verifies the body without blanks at its ends",
    fails: ["body-whitespace"],
    steps: verifyOver((body) => body.toString().trim()),
  },
  {
    name: "sorts the keys before it verifies",
    fails: ["body-key-order"],
    steps: verifyOver((body) => {
      const text = body.toString();
      const order = ["event", "data", "timestamp", "webhook_id", "delivery_id"];
      const keys = [...text.matchAll(/"(event|data|timestamp|webhook_id|delivery_id)":/g)].map(
        (match) => match[1]!,
      );
      return keys.join() === order.join() || keys.length < 5 ? text : JSON.stringify(JSON.parse(text), order);
    }),
  },
  {
    name: "verifies the body with its escapes resolved",
    fails: ["body-unicode-escapes"],
    steps: verifyOver((body) =>
      body
        .toString()
        .replace(/\\u([0-9a-f]{4})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    ),
  },
  {
    name: "reads the body as Latin-1",
    fails: ["body-utf8", "body-chunked"],
    steps: verifyOver((body) => body.toString("latin1")),
  },
  {
    name: "joins the chunks as text",
    fails: ["body-chunked"],
    steps: {
      async readBody({ request }) {
        let text = "";
        for await (const chunk of request) text += chunk;
        return Buffer.from(text);
      },
    },
  },
  {
    name: "insists on a Content-Length",
    fails: ["body-chunked"],
    steps: { screen: ({ request }) => (request.headers["content-length"] ? null : [411]) },
  },
  {
    name: "stops at 100 KB",
    fails: ["body-large"],
    steps: {
      screen: ({ request }) => (Number(request.headers["content-length"]) > 100 * 1024 ? [413] : null),
    },
  },
  {
    name: "knows header names in one spelling only",
    fails: ["header-name-case"],
    steps: { screen: ({ request }) => (request.rawHeaders.includes("X-Service-Event") ? null : [400]) },
  },
  {
    name: "compares the whole content type",
    fails: ["content-type-charset"],
    steps: {
      screen: ({ request }) => (request.headers["content-type"] === "application/json" ? null : [415]),
    },
  },
];

const KNOWN_EVENTS = /^(user|message)\./;

const contentFlaws: Flaw[] = [
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
    name: "goes down with malformed JSON",
    fails: ["malformed-json"],
    steps: { refuseJson: crash },
  },
  {
    name: "refuses malformed JSON and is gone afterwards",
    fails: ["malformed-json"],
    steps: {
      refuseJson({ server, response }) {
        response.once("finish", () => server.close());
        return [400];
      },
    },
  },
  {
    name: "answers GET",
    fails: ["get-refused"],
    steps: { get: () => [200, "the webhook endpoint"] },
  },
  {
    name: "fails on GET",
    fails: ["get-refused"],
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
    name: "tells which signature it expected",
    fails: ["signature-not-disclosed"],
    steps: { refuseSignature: ({ secret, body }) => [401, `expected ${rightSignature(secret, body)}`] },
  },
];

function crash({ server, request }: Context): never {
  server.close();
  server.closeAllConnections();
  request.socket.destroy();
  throw new SyntaxError("Unexpected end of JSON input");
}

const repetitionFlaws: Flaw[] = [
  {
    name: "never looks at the delivery id",
    fails: ["duplicate", "duplicate-at-once", "retry-after-5xx", "timeout-after-commit", "whole-schedule"],
    steps: { process: (context, payload) => effect(context, payload) },
  },
  {
    name: "answers 409 to a repetition",
    fails: ["duplicate", "retry-after-5xx", "timeout-after-commit", "whole-schedule"],
    steps: {
      process: (context, payload) =>
        context.memory.known.has(payload.delivery_id) ? [409] : RIGHT_STEPS.process(context, payload),
    },
  },
  {
    name: "looks first and records later",
    fails: ["duplicate-at-once"],
    steps: {
      async process(context, payload) {
        if (context.memory.known.has(payload.delivery_id)) return [200];
        await wait(8);
        context.memory.known.add(payload.delivery_id);
        return effect(context, payload);
      },
    },
  },
  {
    name: "remembers only the last delivery",
    fails: ["retry-after-5xx", "whole-schedule"],
    steps: {
      process({ memory, ...context }, payload) {
        if (memory.scratch.get("last") === payload.delivery_id) return [200];
        memory.scratch.set("last", payload.delivery_id);
        return effect({ memory, ...context }, payload);
      },
    },
  },
  {
    name: "records the delivery when its answer was sent",
    fails: ["timeout-after-commit", "whole-schedule", "duplicate-at-once"],
    steps: {
      async process(context, payload) {
        if (context.memory.known.has(payload.delivery_id)) return [200];
        const answer = effect(context, payload);
        await wait(30);
        if (!context.request.socket.destroyed) context.memory.known.add(payload.delivery_id);
        return answer;
      },
    },
  },
  {
    name: "remembers the id before it verifies",
    fails: ["forgery-before-original"],
    steps: {
      screen({ request, memory }) {
        const id = String(request.headers["x-service-delivery"]);
        memory.scratch.set(id, Number(memory.scratch.get(id) ?? 0) + 1);
        return null;
      },
      refuseSignature({ request, memory }) {
        memory.known.add(String(request.headers["x-service-delivery"]));
        return [401];
      },
    },
  },
  {
    name: "drops what is older than the newest",
    fails: ["out-of-order", "whole-schedule"],
    steps: {
      process(context, payload) {
        const newest = String(context.memory.scratch.get("newest") ?? "");
        if (payload.timestamp < newest) return [200, "stale"];
        context.memory.scratch.set("newest", payload.timestamp);
        return RIGHT_STEPS.process(context, payload);
      },
    },
  },
  {
    name: "refuses timestamps older than five minutes",
    fails: ["whole-schedule"],
    steps: {
      consider: (_context, { timestamp }) =>
        Date.now() - Date.parse(timestamp) > 300_000 ? [400, "stale"] : null,
    },
  },
  {
    name: "accepts and does nothing",
    fails: [
      "valid-processed",
      "duplicate",
      "duplicate-at-once",
      "retry-after-5xx",
      "forgery-before-original",
      "out-of-order",
      "timeout-after-commit",
      "whole-schedule",
    ],
    steps: { process: () => [200] },
  },
];

function effect({ memory }: Context, { delivery_id: id }: Payload): [number] {
  memory.processed.push(id);
  return [200];
}

const acceptanceFlaws: Flaw[] = [
  {
    name: "never answers",
    fails: ["valid-accepted"],
    steps: { process: () => new Promise<never>(() => {}) },
  },
  {
    name: "answers 500",
    fails: ["valid-accepted"],
    steps: { process: () => [500] },
  },
  {
    name: "has another secret",
    fails: ["valid-accepted"],
    steps: { isSigned: () => false },
  },
  {
    name: "redirects",
    fails: ["valid-accepted", "no-redirect"],
    steps: { screen: () => [308, "", { Location: "/webhook/" }] },
  },
];

export const FLAWS: Flaw[] = [
  ...acceptanceFlaws,
  ...signatureFlaws,
  ...bodyFlaws,
  ...contentFlaws,
  ...repetitionFlaws,
];
