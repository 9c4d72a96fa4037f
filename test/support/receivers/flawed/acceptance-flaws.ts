import type { Flaw } from "./flaw.ts";
import { computeSignature, getSentSignature } from "./flawed-receiver.ts";

const seen = new WeakSet<object>();

export const acceptanceFlaws: Flaw[] = [
  {
    name: "never answers",
    fails: ["valid-accepted"],
    hangs: true,
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
  {
    name: "expects the digest in base64",
    fails: ["valid-accepted"],
    steps: {
      isSigned(context) {
        const hex = computeSignature(context.secret, context.body).slice(7);
        return getSentSignature(context) === Buffer.from(hex, "hex").toString("base64");
      },
    },
  },
  {
    name: "resets kept connections",
    fails: ["connection-reuse"],
    steps: {
      screen({ request }) {
        if (seen.has(request.socket)) request.socket.resetAndDestroy();
        seen.add(request.socket);
        return null;
      },
    },
  },
  {
    name: "no longer answers on kept connections",
    hangs: true,
    fails: ["connection-reuse"],
    steps: {
      readBody({ request }) {
        if (seen.has(request.socket)) return new Promise<never>(() => {});
        seen.add(request.socket);
        return readAll(request);
      },
    },
  },
];

async function readAll(request: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}
