import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Ajv } from "ajv";
import express from "express";
import fastify from "fastify";
import { toDataSchema } from "../../../../src/engine/contract/event.ts";
import { EVENTS } from "../../../../src/engine/resources/events.ts";
import { type Payload, type Steps, startReceiver } from "../flawed/flawed-receiver.ts";
import { LOCAL_CERTIFICATE, LOCAL_KEY } from "../test-certificate.ts";
import type { Running, SoundReceiver } from "./sound-receiver.ts";

function isSigned(secret: string, body: Buffer, header: unknown): boolean {
  const expected = Buffer.from(`sha256=${createHmac("sha256", secret).update(body).digest("hex")}`);
  const given = Buffer.from(String(header ?? ""));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/**
 * Decodes the hex digits before comparing, as many receivers do, so upper case passes. Node's decoder stops at other
 * characters.
 */
function isSignedInBytes(secret: string, body: Buffer, header: unknown): boolean {
  const [prefix, hex = ""] = String(header ?? "").split("=");
  const given = Buffer.from(hex, "hex");
  const expected = createHmac("sha256", secret).update(body).digest();
  return prefix === "sha256" && hex.length === 64 && given.length === 32 && timingSafeEqual(given, expected);
}

async function waitUntilListening(server: Server, scheme = "http"): Promise<Running> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const base = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `${base}/webhook`, probe: `${base}/processed`, close: () => closeServer(server) };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    (server as http.Server).closeAllConnections?.();
  });
}

/** Creates a variation of the correct receiver on which the flawed ones are based. */
const createVariation = (name: string, steps: () => Partial<Steps>, notes: string[] = []): SoundReceiver => ({
  name,
  notes,
  start: (secret) => startReceiver(secret, steps()),
});

const sample: SoundReceiver = {
  name: "the Node sample",
  async start(secret) {
    const file = new URL("../../../../docs/receivers/node/receiver.mjs", import.meta.url).href;
    const { createReceiver } = await import(file);
    return waitUntilListening(createReceiver(secret));
  },
};

/** Validates deliveries strictly by section 6.2, compares bytes, and has a health endpoint. */
const strict: SoundReceiver = {
  name: "a strict model of section 6.2",
  notes: ["signature-upper-case"],
  async start(secret) {
    const ajv = new Ajv({
      strict: false,
      formats: { email: /^[^@\s]+@[^@\s]+\.[a-z]+$/, "date-time": /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ },
    });
    const instant = { type: "string", pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$" };
    const makeIdSchema = (prefix: string) => ({ type: "string", pattern: `^${prefix}_[A-Za-z0-9]+$` });
    const isEnvelope = ajv.compile({
      type: "object",
      required: ["event", "data", "timestamp", "webhook_id", "delivery_id"],
      properties: {
        event: { type: "string", pattern: "^[a-z]+\\.[a-z]+$" },
        data: { type: "object" },
        timestamp: instant,
        webhook_id: makeIdSchema("wh"),
        delivery_id: makeIdSchema("del"),
      },
    });
    const validators = new Map(EVENTS.map((event) => [String(event.name), ajv.compile(toDataSchema(event))]));
    validators.set(
      "user.created",
      ajv.compile({
        type: "object",
        required: ["user_id", "email", "created_at"],
        properties: {
          user_id: makeIdSchema("usr"),
          email: { type: "string", format: "email" },
          created_at: instant,
        },
      }),
    );
    const known = new Set<string>();
    const processed: string[] = [];
    const app = express();
    app.get("/processed", (_request, response) => void response.json(processed));
    app.get("/webhook", (_request, response) => void response.send("the webhook is well"));
    app.post("/webhook", express.raw({ type: () => true, limit: "1mb" }), (request, response) => {
      const body: Buffer = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      if (!isSignedInBytes(secret, body, request.get("x-service-signature"))) {
        response.status(401).send("invalid signature");
        return;
      }
      let payload: Payload;
      try {
        payload = JSON.parse(body.toString("utf8"));
      } catch {
        response.status(400).send("not JSON");
        return;
      }
      const fits = isEnvelope(payload) && (validators.get(payload.event)?.(payload.data) ?? true);
      const isSameEvent = request.get("x-service-event") === payload.event;
      if (!fits || !isSameEvent || request.get("x-service-delivery") === undefined) {
        response.status(422).send("not as section 6.2 has it");
        return;
      }
      if (!known.has(payload.delivery_id)) {
        known.add(payload.delivery_id);
        processed.push(payload.delivery_id);
      }
      response.send("ok");
    });
    return waitUntilListening(http.createServer(app));
  },
};

const expressVerify: SoundReceiver = {
  name: "Express with express.json's verify",
  async start(secret) {
    const known = new Set<string>();
    const processed: string[] = [];
    const app = express();
    app.get("/processed", (_request, response) => void response.json(processed));
    app.use(
      express.json({
        limit: "1mb",
        type: () => true,
        verify: (request, _response, body) => {
          if (!isSigned(secret, body, request.headers["x-service-signature"])) {
            throw Object.assign(new Error("invalid signature"), { status: 401 });
          }
        },
      }),
    );
    app.post("/webhook", (request, response) => {
      const { delivery_id } = (request.body ?? {}) as Partial<Payload>;
      if (delivery_id === undefined) return void response.status(400).end();
      if (!known.has(delivery_id)) {
        known.add(delivery_id);
        processed.push(delivery_id);
      }
      response.json({ received: true });
    });
    return waitUntilListening(http.createServer(app));
  },
};

const fastifyRaw: SoundReceiver = {
  name: "Fastify with a parser that keeps the bytes",
  async start(secret) {
    const known = new Set<string>();
    const processed: string[] = [];
    const app = fastify({ bodyLimit: 1024 * 1024, forceCloseConnections: true });
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    app.get("/processed", async () => processed);
    app.post("/webhook", async (request, reply) => {
      const body = (request.body ?? Buffer.alloc(0)) as Buffer;
      if (!isSigned(secret, body, request.headers["x-service-signature"])) return reply.code(401).send();
      let payload: Payload;
      try {
        payload = JSON.parse(body.toString("utf8"));
      } catch {
        return reply.code(400).send({ error: "not JSON" });
      }
      if (!known.has(payload.delivery_id)) {
        known.add(payload.delivery_id);
        processed.push(payload.delivery_id);
      }
      return reply.code(204).send();
    });
    await app.listen({ port: 0, host: "127.0.0.1" });
    const base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
    return { url: `${base}/webhook`, probe: `${base}/processed`, close: () => app.close() };
  },
};

/** Forwards as nginx does: other header names, more headers, chunks, and its own connections to the receiver. */
const proxied: SoundReceiver = {
  name: "one behind a proxy that rewrites framing and headers",
  async start(secret) {
    const behind = await startReceiver(secret);
    const agent = new http.Agent({ keepAlive: true });
    const server = http.createServer((request, response) => {
      const { "content-length": _length, connection: _connection, ...headers } = request.headers;
      const outgoing = http.request(
        new URL(request.url!, behind.url),
        {
          agent,
          method: request.method!,
          headers: { ...headers, "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https" },
        },
        (incoming) => {
          response.writeHead(incoming.statusCode!, incoming.headers);
          incoming.pipe(response);
        },
      );
      outgoing.on("error", () => response.writeHead(502).end());
      request.on("error", () => outgoing.destroy());
      request.on("aborted", () => outgoing.destroy());
      request.pipe(outgoing);
    });
    const running = await waitUntilListening(server);
    const close = async () => {
      agent.destroy();
      await running.close();
      await behind.close();
    };
    return { ...running, close };
  },
};

const secured: SoundReceiver = {
  name: "one over TLS, with a certificate of a private authority",
  async start(secret) {
    const behind = await startReceiver(secret);
    const options = { cert: LOCAL_CERTIFICATE, key: LOCAL_KEY };
    const server = https.createServer(options, (request, response) => {
      const { method, headers, url } = request;
      const to = { method: method!, headers };
      const outgoing = http.request(new URL(url!, behind.url), to, (incoming) => {
        response.writeHead(incoming.statusCode!, incoming.headers);
        incoming.pipe(response);
      });
      outgoing.on("error", () => response.destroy());
      request.on("aborted", () => outgoing.destroy());
      request.pipe(outgoing);
    });
    const running = await waitUntilListening(server, "https");
    const caFile = join(mkdtempSync(join(tmpdir(), "sound-receiver-")), "cert.pem");
    writeFileSync(caFile, LOCAL_CERTIFICATE);
    return {
      ...running,
      options: { caFile },
      async close() {
        await running.close();
        await behind.close();
      },
    };
  },
};

/** Processes one delivery after another, long after the response. */
function processLater(delayMs: number): Partial<Steps> {
  let last = Promise.resolve<unknown>(undefined);
  return {
    process({ memory }, { delivery_id: id }) {
      if (!memory.known.has(id)) {
        memory.known.add(id);
        last = last.then(() => wait(delayMs)).then(() => memory.processed.push(id));
      }
      return [202, "queued"];
    },
  };
}

/** Rejects copies of a delivery while it is being processed. */
function rejectWhileBusy(status: number, workMs: number): Partial<Steps> {
  const working = new Set<string>();
  return {
    async process({ memory }, { delivery_id: id }) {
      if (memory.known.has(id)) return [200, "ok"];
      if (working.has(id)) return [status, "in progress"];
      working.add(id);
      await wait(workMs);
      working.delete(id);
      memory.known.add(id);
      memory.processed.push(id);
      return [200, "ok"];
    },
  };
}

/** Rejects every Nth request with 429. */
function rejectEveryNth(each: number): Partial<Steps> {
  let requests = 0;
  return {
    screen() {
      requests += 1;
      return requests % each === 0 ? [429, "slow down", { "Retry-After": "0.1" }] : null;
    },
  };
}

const usersOnly: Partial<Steps> = {
  process({ memory }, { delivery_id: id, event }) {
    if (event === "user.created" && !memory.known.has(id)) {
      memory.known.add(id);
      memory.processed.push(id);
    }
    return [200];
  },
};

export const NODE_RECEIVERS: SoundReceiver[] = [
  sample,
  strict,
  expressVerify,
  fastifyRaw,
  proxied,
  secured,
  createVariation("the receiver that the flawed ones are made from", () => ({})),
  createVariation("a receiver that answers GET with 200", () => ({
    get: () => [200, "the webhook endpoint"],
  })),
  createVariation("a receiver that has a use for user.created alone", () => usersOnly),
  createVariation("a receiver that closes every connection", () => ({
    refuseSignature: () => [401, "", { Connection: "close" }],
    consider: ({ response }) => {
      response.setHeader("Connection", "close");
      return null;
    },
  })),
  {
    name: "a receiver that processes long after its answer",
    async start(secret) {
      const running = await startReceiver(secret, processLater(4));
      return { ...running, options: { settleMs: 100, patienceMs: 8000, memoryDeliveries: 20 } };
    },
  },
  ...[409, 503].map(
    (status): SoundReceiver => ({
      name: `one that answers ${status} to a copy of what it is working on`,
      async start(secret) {
        const running = await startReceiver(secret, rejectWhileBusy(status, 10));
        return { ...running, options: { patienceMs: 5000 } };
      },
    }),
  ),
  createVariation("a receiver that asks for time with 429 now and then", () => rejectEveryNth(25)),
  createVariation("a receiver that knows no method but POST", () => ({
    get: () => [501, "unsupported method"],
  })),
  createVariation(
    "a receiver that trusts the unsigned delivery header",
    () => ({
      process({ memory, request }) {
        const id = String(request.headers["x-service-delivery"]);
        if (!memory.known.has(id)) {
          memory.known.add(id);
          memory.processed.push(id);
        }
        return [200];
      },
    }),
    ["duplicate"],
  ),
];
