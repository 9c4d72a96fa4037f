import { once } from "node:events";
import { type Flaw, verifyOver } from "./flaw.ts";
import type { Steps } from "./flawed-receiver.ts";

export const bodyFlaws: Flaw[] = [
  {
    name: "verifies the parsed and rewritten body",
    fails: ["body-changed", "body-whitespace", "body-unicode-escapes", "malformed-json"],
    steps: verifyOver((body) => JSON.stringify(JSON.parse(body.toString()))),
  },
  {
    name: "verifies the trimmed body",
    fails: ["body-changed", "body-whitespace"],
    steps: verifyOver((body) => body.toString().trim()),
  },
  {
    name: "sorts the keys before it verifies",
    fails: ["body-changed", "body-key-order"],
    steps: verifyOver((body) => {
      const text = body.toString();
      const order = ["event", "data", "timestamp", "webhook_id", "delivery_id"];
      if (text.endsWith(":") || !text.startsWith('{"delivery_id"')) return text;
      return JSON.stringify(Object.fromEntries(order.map((key) => [key, JSON.parse(text)[key]])));
    }),
  },
  {
    name: "verifies the body with its escapes decoded",
    fails: ["body-unicode-escapes"],
    steps: verifyOver((body) =>
      body
        .toString()
        .replace(/\\u([0-9a-f]{4})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    ),
  },
  {
    name: "reads the body as Latin-1",
    fails: ["body-utf8", "body-unicode-forms", "body-chunked"],
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
    steps: limitBody(100 * 1024),
  },
  {
    name: "stops at 300 KB",
    fails: ["body-large"],
    steps: limitBody(300_000),
  },
  {
    name: "stops at 512 KB",
    fails: ["body-large"],
    steps: limitBody(512 * 1024),
  },
  {
    name: "disconnects at 900 KB",
    fails: ["body-large"],
    steps: {
      screen({ request }) {
        if (Number(request.headers["content-length"]) > 900_000) request.socket.resetAndDestroy();
        return null;
      },
    },
  },
  ...(["NFC", "NFKC"] as const).map(
    (form): Flaw => ({
      name: `verifies the body in ${form}`,
      fails: ["body-unicode-forms"],
      steps: verifyOver((body) => body.toString().normalize(form)),
    }),
  ),
  {
    name: "verifies the body in NFD",
    fails: ["body-utf8", "body-unicode-forms"],
    steps: verifyOver((body) => body.toString().normalize("NFD")),
  },
  {
    name: "verifies the body with one kind of line end",
    fails: ["body-whitespace"],
    steps: verifyOver((body) => body.toString().replaceAll("\r\n", "\n")),
  },
  {
    name: "reads only the first piece of a body",
    fails: ["body-large", "body-chunked"],
    steps: { readBody: async ({ request }) => (await once(request, "data"))[0] as Buffer },
  },
  {
    name: "knows only one spelling of header names",
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

function limitBody(bytes: number): Partial<Steps> {
  return { screen: ({ request }) => (Number(request.headers["content-length"]) > bytes ? [413] : null) };
}
