import { Ajv } from "ajv";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toDataSchema } from "../../src/engine/contract/event.ts";
import { EVENTS } from "../../src/engine/resources/events.ts";
import { webhookTest } from "../../src/engine/resources/webhooks/schema.ts";
import {
  type Context,
  computeSignature,
  type RunningReceiver,
  startReceiver,
} from "../support/receivers/flawed/flawed-receiver.ts";
import { grade, SECRET } from "../support/receivers/grade-setup.ts";

interface Sent {
  headers: string[];
  body: Buffer;
  isSigned: boolean;
}

const INSTANT = { type: "string", pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$" };

/** Exactly the fields of section 6.2. */
const ENVELOPE = {
  type: "object",
  additionalProperties: false,
  required: ["event", "data", "timestamp", "webhook_id", "delivery_id"],
  properties: {
    event: { type: "string" },
    data: { type: "object" },
    timestamp: INSTANT,
    webhook_id: { type: "string", pattern: "^wh_\\w+$" },
    delivery_id: { type: "string", pattern: "^del_\\w+$" },
  },
};

/** Written out from section 6.2, independently of our declaration. */
const USER_CREATED = {
  type: "object",
  additionalProperties: false,
  required: ["user_id", "email", "created_at"],
  properties: {
    user_id: { type: "string", pattern: "^usr_\\w+$" },
    email: { type: "string", pattern: "^[\\w.]+@[\\w.]+\\.[a-z]+$" },
    created_at: INSTANT,
  },
};

const ajv = new Ajv({ strict: false, formats: { "date-time": new RegExp(INSTANT.pattern) } });
const isEnvelope = ajv.compile(ENVELOPE);
const isData = new Map(
  [...EVENTS, webhookTest].map((event) => [
    String(event.name),
    ajv.compile({ ...toDataSchema(event), additionalProperties: false }),
  ]),
);
isData.set("user.created", ajv.compile(USER_CREATED));

describe("a payload of the receiver test", () => {
  const sent: Sent[] = [];
  let receiver: RunningReceiver;
  beforeAll(async () => {
    receiver = await startReceiver(SECRET, {
      isSigned(context: Context) {
        const { request, body } = context;
        const isSigned = request.headers["x-service-signature"] === computeSignature(SECRET, body);
        sent.push({ headers: request.rawHeaders, body, isSigned });
        return isSigned;
      },
    });
    await grade(receiver.url, { probe: receiver.probe });
  });
  afterAll(() => receiver.close());

  const listBodies = () =>
    sent.flatMap(({ body }) => {
      try {
        return [JSON.parse(body.toString("utf8")) as Record<string, unknown>];
      } catch {
        return [];
      }
    });

  it("has exactly the five fields, except in extra-fields [6.2]", () => {
    const misfits = listBodies().filter((payload) => !isEnvelope(payload));
    expect(misfits.map((payload) => payload["api_version"])).toEqual(["2031-01-01"]);
    expect(listBodies().length).toBeGreaterThan(150);
  });

  it("has data as declared, field by field, for every event [6.2, G25, interfaces 14]", () => {
    const seen = new Set<string>();
    const misfits: unknown[] = [];
    for (const { event, data, api_version } of listBodies()) {
      const name = String(event);
      seen.add(name);
      // A body that was changed after it was signed has an event that is not declared.
      const validate = isData.get(name);
      if (validate === undefined || api_version !== undefined) continue;
      if (!validate(data)) misfits.push({ name, data, errors: validate.errors });
    }
    expect(misfits).toEqual([]);
    expect([...seen].filter((name) => !isData.has(name)).sort()).toEqual([
      "planet.discovered",
      "users.created",
    ]);
    expect([...isData.keys()].filter((name) => !seen.has(name))).toEqual([]);
  });

  it("is not JSON in exactly one delivery, which is signed correctly [6.2]", () => {
    const broken = sent.filter(({ body }) => !body.toString("utf8").trim().endsWith("}"));
    expect(broken.map(({ isSigned }) => isSigned)).toEqual([true]);
  });

  it("has the service's five headers in its spelling, on reused connections [6.2, interfaces 14]", () => {
    const genuine = sent.filter(({ isSigned, body }) => isSigned && body.toString("utf8").endsWith("}"));
    const kept = genuine.filter(({ headers }) => readHeader(headers, "Connection") === "keep-alive");
    expect(kept.length).toBeGreaterThan(50);
    for (const { headers, body } of kept) {
      const { event, delivery_id } = JSON.parse(body.toString("utf8"));
      expect(headers.slice(headers.indexOf("Content-Type"))).toEqual([
        ...["Content-Type", "application/json"],
        ...["X-Service-Event", event],
        ...["X-Service-Signature", computeSignature(SECRET, body)],
        ...["X-Service-Delivery", delivery_id],
        ...["User-Agent", "Service-Webhook/1.0"],
      ]);
    }
  });
});

function readHeader(raw: readonly string[], name: string): string | undefined {
  const at = raw.indexOf(name);
  return at < 0 ? undefined : raw[at + 1];
}
