import { createHash, createHmac } from "node:crypto";
import type { Flaw } from "./flaw.ts";
import { CORRECT_STEPS, computeSignature, getSentSignature, type Payload } from "./flawed-receiver.ts";

const trusted = new WeakSet<object>();

/** A whole digest without the prefix is another flaw. */
const isBare = (sent: string) => /^[0-9a-f]{64}$/.test(sent);

const ZEROES = `sha256=${"0".repeat(64)}`;

export const signatureFlaws: Flaw[] = [
  {
    name: "skips verification without a header",
    fails: ["signature-missing", "signature-behind-proxy", "signature-every-event", "signature-every-form"],
    steps: {
      isSigned: (context) => getSentSignature(context) === undefined || CORRECT_STEPS.isSigned(context),
    },
  },
  {
    name: "skips verification with a falsy header",
    fails: [
      "signature-missing",
      "signature-empty",
      "signature-behind-proxy",
      "signature-every-event",
      "signature-every-form",
    ],
    steps: { isSigned: (context) => !getSentSignature(context) || CORRECT_STEPS.isSigned(context) },
  },
  {
    name: "skips verification with a bare prefix",
    fails: ["signature-empty"],
    steps: {
      isSigned: (context) => getSentSignature(context) === "sha256=" || CORRECT_STEPS.isSigned(context),
    },
  },
  {
    name: "compares only the sent characters",
    fails: ["signature-truncated"],
    steps: {
      isSigned(context) {
        const sent = getSentSignature(context) ?? "";
        return sent.length > 10 && computeSignature(context.secret, context.body).startsWith(sent);
      },
    },
  },
  {
    name: "throws in the comparison of unequal lengths",
    fails: [
      "signature-missing",
      "signature-empty",
      "signature-truncated",
      "signature-surrounded",
      "signature-trailing-text",
      "signature-wrong-prefix",
      "signature-wrong-encoding",
    ],
    steps: {
      isSigned(context) {
        if ((getSentSignature(context) ?? "").length !== 71)
          throw new RangeError("must have the same byte length");
        return CORRECT_STEPS.isSigned(context);
      },
    },
  },
  {
    name: "compares only the part after the equals sign",
    fails: ["signature-surrounded", "signature-wrong-prefix"],
    steps: {
      isSigned(context) {
        return (
          getSentSignature(context)?.split("=").at(-1) ===
          computeSignature(context.secret, context.body).slice(7)
        );
      },
    },
  },
  {
    name: "also accepts base64",
    fails: ["signature-wrong-encoding"],
    steps: {
      isSigned(context) {
        const sent = getSentSignature(context) ?? "";
        const asHex = `sha256=${Buffer.from(sent.slice(7), "base64").toString("hex")}`;
        return CORRECT_STEPS.isSigned(context) || asHex === computeSignature(context.secret, context.body);
      },
    },
  },
  {
    name: "checks only the form of the signature",
    fails: [
      "signature-nearly-right",
      "signature-prefix",
      "signature-wrong-secret",
      "signature-behind-proxy",
      "signature-every-event",
      "signature-every-form",
      "body-changed",
    ],
    steps: { isSigned: (context) => /^sha256=[0-9a-f]{64}$/.test(getSentSignature(context) ?? "") },
  },
  {
    name: "also accepts an empty secret",
    fails: ["signature-wrong-secret"],
    steps: {
      isSigned: (context) =>
        CORRECT_STEPS.isSigned(context) || getSentSignature(context) === computeSignature("", context.body),
    },
  },
  {
    name: "accepts every signature that was correct once",
    fails: ["body-changed"],
    steps: {
      isSigned(context) {
        const key = `verified ${getSentSignature(context)}`;
        if (CORRECT_STEPS.isSigned(context)) context.memory.scratch.set(key, true);
        return context.memory.scratch.has(key);
      },
    },
  },
  {
    name: "refuses forgeries but processes them",
    fails: [
      "signature-missing",
      "signature-empty",
      "signature-truncated",
      "signature-nearly-right",
      "signature-prefix",
      "signature-surrounded",
      "signature-trailing-text",
      "signature-wrong-prefix",
      "signature-wrong-encoding",
      "signature-wrong-secret",
      "signature-behind-proxy",
      "signature-every-event",
      "signature-every-form",
      "body-changed",
    ],
    steps: {
      refuseSignature(context) {
        const payload = JSON.parse(context.body.toString()) as Payload;
        // An id that is already known is accepted too, as for a changed body.
        if (!context.memory.known.has(payload.delivery_id) || getSentSignature(context) !== ZEROES) {
          context.memory.known.add(payload.delivery_id);
          context.memory.processed.push(payload.delivery_id);
        }
        return [401];
      },
    },
  },
  {
    name: "decodes hex up to the first other character",
    fails: ["signature-trailing-text"],
    steps: {
      isSigned(context) {
        const [prefix, digest = ""] = (getSentSignature(context) ?? "").split(/=(.*)/s);
        const given = Buffer.from(digest.toLowerCase() === digest ? digest : "", "hex").toString("hex");
        return prefix === "sha256" && `sha256=${given}` === computeSignature(context.secret, context.body);
      },
    },
  },
  {
    name: "compares only the beginning of the signature",
    fails: ["signature-surrounded", "signature-trailing-text"],
    steps: {
      isSigned: (context) =>
        getSentSignature(context)?.startsWith(computeSignature(context.secret, context.body)) === true,
    },
  },
  {
    name: "cuts the signature to its length",
    fails: ["signature-surrounded", "signature-trailing-text"],
    steps: {
      isSigned: (context) =>
        getSentSignature(context)?.slice(0, 71) === computeSignature(context.secret, context.body),
    },
  },
  {
    name: "searches for the signature anywhere in the header",
    fails: ["signature-surrounded", "signature-trailing-text"],
    steps: {
      isSigned: (context) =>
        getSentSignature(context)?.includes(computeSignature(context.secret, context.body)) === true,
    },
  },
  {
    name: "accepts several signatures, separated by commas",
    fails: ["signature-surrounded"],
    steps: {
      isSigned(context) {
        const right = computeSignature(context.secret, context.body);
        return (getSentSignature(context) ?? "").split(",").includes(right);
      },
    },
  },
  {
    name: "compares the first sixteen digits",
    fails: ["signature-nearly-right", "signature-prefix"],
    steps: {
      isSigned(context) {
        const sent = getSentSignature(context) ?? "";
        return (
          sent.length === 71 &&
          sent.slice(0, 23) === computeSignature(context.secret, context.body).slice(0, 23)
        );
      },
    },
  },
  {
    name: "compares the last eight digits",
    fails: ["signature-nearly-right"],
    steps: {
      isSigned(context) {
        const sent = getSentSignature(context) ?? "";
        const right = computeSignature(context.secret, context.body);
        return /^sha256=[0-9a-f]{64}$/.test(sent) && sent.slice(-8) === right.slice(-8);
      },
    },
  },
  {
    name: "takes the algorithm from the prefix",
    fails: ["signature-wrong-prefix"],
    steps: {
      isSigned(context) {
        const [algorithm = "", digest] = (getSentSignature(context) ?? "").split("=");
        if (!["md5", "sha1", "sha256", "sha512"].includes(algorithm)) return false;
        return createHmac(algorithm, context.secret).update(context.body).digest("hex") === digest;
      },
    },
  },
  {
    name: "has a fallback secret",
    fails: ["signature-wrong-secret"],
    steps: {
      isSigned: (context) =>
        CORRECT_STEPS.isSigned(context) ||
        getSentSignature(context) === computeSignature("secret", context.body),
    },
  },
  {
    name: "also accepts a plain hash of the body",
    fails: ["signature-wrong-secret"],
    steps: {
      isSigned(context) {
        const plain = `sha256=${createHash("sha256").update(context.body).digest("hex")}`;
        return CORRECT_STEPS.isSigned(context) || getSentSignature(context) === plain;
      },
    },
  },
  ...[
    ["X-Forwarded-For", "127.0.0.1"],
    ["X-Forwarded-For", "10.0.0.1"],
    ["X-Real-IP", "127.0.0.1"],
    ["X-Forwarded-Proto", "https"],
    ["X-Forwarded-Host", "localhost"],
  ].map(
    ([name, value]): Flaw => ({
      name: `verifies nothing with ${name}: ${value}`,
      fails: ["signature-behind-proxy"],
      steps: {
        isSigned: (context) =>
          context.request.headers[name!.toLowerCase()] === value || CORRECT_STEPS.isSigned(context),
      },
    }),
  ),
  {
    name: "verifies nothing behind a Forwarded header",
    fails: ["signature-behind-proxy"],
    steps: {
      isSigned: (context) =>
        context.request.headers["forwarded"] !== undefined || CORRECT_STEPS.isSigned(context),
    },
  },
  {
    name: "verifies nothing with X-Debug",
    fails: ["signature-behind-proxy"],
    steps: {
      isSigned: (context) =>
        context.request.headers["x-debug"] !== undefined || CORRECT_STEPS.isSigned(context),
    },
  },
  {
    name: "trusts a connection that carried a genuine delivery",
    fails: ["signature-every-form"],
    steps: {
      isSigned(context) {
        if (CORRECT_STEPS.isSigned(context)) trusted.add(context.request.socket);
        return trusted.has(context.request.socket);
      },
    },
  },
  {
    name: "checks whether the correct signature ends with the sent one",
    fails: ["signature-truncated"],
    steps: {
      isSigned(context) {
        const sent = getSentSignature(context) ?? "";
        return (
          sent.length > 20 && computeSignature(context.secret, context.body).endsWith(sent) && !isBare(sent)
        );
      },
    },
  },
  {
    name: "also accepts the signature of reordered JSON",
    fails: ["body-changed"],
    steps: {
      isSigned(context) {
        if (CORRECT_STEPS.isSigned(context)) return true;
        try {
          const { event, data, timestamp, webhook_id, delivery_id } = JSON.parse(context.body.toString());
          const ordered = JSON.stringify({ event, data, timestamp, webhook_id, delivery_id });
          return getSentSignature(context) === computeSignature(context.secret, Buffer.from(ordered));
        } catch {
          return false;
        }
      },
    },
  },
  {
    name: "needs no signature on a test",
    fails: ["signature-every-event"],
    steps: {
      isSigned: (context) =>
        context.request.headers["x-service-event"] === "webhook.test" || CORRECT_STEPS.isSigned(context),
    },
  },
  {
    name: "verifies only events of users and messages",
    fails: ["signature-every-event"],
    steps: {
      isSigned: (context) =>
        !/^(user|message)\./.test(String(context.request.headers["x-service-event"])) ||
        CORRECT_STEPS.isSigned(context),
    },
  },
  {
    name: "verifies only JSON",
    fails: ["signature-every-form"],
    steps: {
      isSigned: (context) =>
        !/json/i.test(String(context.request.headers["content-type"])) || CORRECT_STEPS.isSigned(context),
    },
  },
  {
    name: "does not verify chunked bodies",
    fails: ["signature-every-form"],
    steps: {
      isSigned: (context) =>
        context.request.headers["content-length"] === undefined || CORRECT_STEPS.isSigned(context),
    },
  },
  {
    name: "does not verify large bodies",
    fails: ["signature-every-form"],
    steps: { isSigned: (context) => context.body.length > 100_000 || CORRECT_STEPS.isSigned(context) },
  },
];
