import type { ValidateFunction } from "ajv";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AnyEvent, emit, inventData, toDataSchema } from "../../src/engine/contract/event.ts";
import { guessType } from "../../src/engine/contract/media-types.ts";
import { makeAjv } from "../../src/engine/contract/validator.ts";
import { JOB_EVENTS } from "../../src/engine/resources/connector-jobs/rules.ts";
import { EVENTS } from "../../src/engine/resources/events.ts";
import { API } from "../../src/engine/resources/index.ts";
import { fileProcessed } from "../../src/engine/resources/vector-stores/rules.ts";
import { webhookTest } from "../../src/engine/resources/webhooks/schema.ts";
import { Random } from "../../src/engine/state/random.ts";
import { buildOpenApiDocument } from "../../src/tools/reports/openapi.ts";
import { collectEmittedEvents, type Emitted } from "../support/collect-emitted-events.ts";
import { startWebhooks, type WebhookApi } from "../support/webhook-setup.ts";

const DECLARED: readonly AnyEvent[] = [...EVENTS, ...JOB_EVENTS, webhookTest];

const ajv = makeAjv({ allErrors: true });
const validators = new Map<string, ValidateFunction>(
  DECLARED.map((event) => [event.name, ajv.compile({ ...toDataSchema(event), additionalProperties: false })]),
);

/** The differences between the data and the declared schema; empty if the data is valid. */
function findDataErrors(event: string, data: unknown): string[] {
  const validate = validators.get(event);
  if (validate === undefined) return [`nobody declares ${event}`];
  return validate(data)
    ? []
    : validate.errors!.map(({ instancePath, message }) => `${instancePath} ${message}`);
}

let api: WebhookApi;
let emitted: Emitted[];
beforeEach(async () => {
  api = await startWebhooks();
  emitted = collectEmittedEvents(api);
});
afterEach(() => api.close());

async function callState(method: string, path: string, body?: object) {
  const answer = await api.control(method, `/state/${path}`, body);
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

/** Makes one object of each kind that the events describe, and returns their ids. */
async function makeObjects() {
  const user = await callState("POST", "users", { memberships: { org_acme: "member", org_globex: "admin" } });
  const thread = await callState("POST", "threads", { organization_id: "org_acme" });
  const blocks = [{ type: "text", text: "Hello" }];
  const message = await callState("POST", "messages", { thread_id: thread.id, content: blocks });
  const file = await callState("POST", "files", { organization_id: "org_acme" });
  const invoice = await callState("POST", "invoices", { organization_id: "org_acme", amount: 12.5 });
  return { user, thread, message, file, invoice };
}

/** Causes every event by the operation, state call or job that really causes it. */
async function changeEverything(): Promise<void> {
  const { user, thread, message, file, invoice } = await makeObjects();
  await callState("PATCH", `users/${user.id}`, { verified: true });
  await callState("PATCH", `users/${user.id}`, { name: "Zoe" });
  await callState("PATCH", `threads/${thread.id}`, { title: "Plans" });
  await callState("PATCH", `messages/${message.id}`, { content: "Hello" });
  await callState("DELETE", `messages/${message.id}`);
  await api.call("dan", "DELETE", "/v1/threads/thread_welcome");
  await callState("PATCH", `invoices/${invoice.invoice_id}`, { status: "failed" });
  await callState("PATCH", `invoices/${invoice.invoice_id}`, { status: "paid" });
  await callState("DELETE", `files/${file.id}`);
  await callState("DELETE", `users/${user.id}`);
  await callState("PATCH", "usage/org_acme", { spent: { "2026-03": 5000 } });
  await callState("PATCH", "usage/org_acme:apikey_ben", { spent: { "2026-03": 5000 } });
  await api.advanceBy("3h");
  const { job_id } = await callState("POST", "connector_jobs", { status: "running" });
  await callState("PATCH", `connector_jobs/${job_id}`, { status: "failed" });
}

describe("data of events [G25]", () => {
  it("every event of a real change has the declared data, and every declared event occurs [G25]", async () => {
    await changeEverything();
    for (const { event, data } of emitted) expect(findDataErrors(event, data), event).toEqual([]);
    const emittedNames = new Set(emitted.map(({ event }) => event));
    expect(
      [...EVENTS, ...JOB_EVENTS].map(({ name }) => name).filter((name) => !emittedNames.has(name)),
    ).toEqual([]);
  });

  it("triggered events look like those that real changes emit, whatever object they are for [G25]", async () => {
    const { user, thread, message, file, invoice } = await makeObjects();
    const real = new Map(emitted.map(({ event, data }) => [event, data]));
    const ids: Record<string, string[]> = {
      user: [user.id, "usr_cleo"],
      thread: [thread.id, "thread_welcome"],
      message: [message.id],
      file: [file.id, "file_handbook", "file_policies"],
      invoice: [invoice.invoice_id],
      usage: ["org_acme", "org_globex", "apikey_ben", "apikey_eve"],
    };
    emitted.length = 0;
    for (const { name } of EVENTS) {
      for (const id of ids[name.split(".")[0]!]!) await api.trigger({ event: name, for: id });
    }
    for (const { event, data } of emitted) expect(findDataErrors(event, data), event).toEqual([]);
    for (const name of [
      "user.created",
      "thread.created",
      "message.created",
      "file.uploaded",
      "invoice.created",
    ]) {
      expect(emitted.find(({ event }) => event === name)!.data).toEqual(real.get(name));
    }
  });

  it.each([...EVENTS, webhookTest])("$name has a shape, and samples for every field of it [6.1]", (event) => {
    const world = api.understudy.sandboxes.get("default")!.world.read();
    const givenFields = { organization_id: "org_acme", webhook_id: "wh_acme" };
    for (let seed = 0; seed < 20; seed++) {
      const sample = inventData(event, { world, at: 0, random: new Random(seed, event.name), givenFields });
      expect(findDataErrors(event.name, sample)).toEqual([]);
    }
  });

  describe("an event triggered without an object has consistent data [G25]", () => {
    const sample = async (event: string) => {
      emitted.length = 0;
      await api.trigger({ event, organization: "org_acme" });
      return emitted[0]!.data as Record<string, unknown>;
    };
    const NOW = Date.parse("2026-03-15T12:00:00.000Z");
    const repeated = Array.from({ length: 12 });

    it.each(["file.uploaded", "file.deleted", "file.processed"])("%s [G25]", async (event) => {
      for (const _ of repeated) {
        const { filename, mime_type, gcs_path, created_by, store_id } = await sample(event);
        expect(mime_type).toBe(guessType(String(filename)));
        expect(gcs_path).toMatch(/^gs:\/\/uploads\/org_acme\/[a-z0-9]{20}\/[A-Za-z0-9._-]+$/);
        expect(String(gcs_path).split("/").at(-1)).toBe(filename);
        expect(created_by).toBe("usr_ada");
        if (event === "file.processed")
          expect(await callState("GET", `vector_stores/${store_id}`)).toBeDefined();
      }
    });

    it.each(["user.updated", "user.deleted", "user.verified"])("%s [G25]", async (event) => {
      for (const _ of repeated) {
        const { name, email } = await sample(event);
        const [local = "", domain] = String(email).split("@");
        expect(domain).toBe("example.test");
        const words = String(name)
          .toLowerCase()
          .replaceAll(/[^a-z ]/g, "")
          .split(" ");
        expect(
          words.some((word) => word.length > 1 && local.includes(word)),
          `${name}: ${email}`,
        ).toBe(true);
      }
    });

    it.each(["message.created", "message.updated", "message.deleted"])("%s [G25]", async (event) => {
      const { thread_id, created_at } = await sample(event);
      const thread = await callState("GET", `threads/${thread_id}`);
      expect(thread.organization_id).toBe("org_acme");
      expect(Date.parse(String(created_at))).toBeGreaterThanOrEqual(Date.parse(thread.created_at));
    });

    it("the owner of a thread is one of the organization's people [G25]", async () => {
      const { owner_id } = await sample("thread.created");
      expect((await callState("GET", `users/${owner_id}`)).memberships).toHaveProperty("org_acme");
    });

    it.each(["usage.threshold", "usage.limit"])(
      "%s is about the organization's own limit [G25]",
      async (event) => {
        const { monthly_limit, current_usage, utilization_percentage } = await sample(event);
        const { monthly_limit: limit } = await callState("GET", "usage/org_acme");
        expect({ monthly_limit, current_usage }).toEqual({
          monthly_limit: limit,
          current_usage: (limit * Number(utilization_percentage)) / 100,
        });
      },
    );

    it("only new objects have the present time, and no field has a later one [G25]", async () => {
      const ages: Record<string, number> = {};
      for (const { name, data } of EVENTS) {
        if (!(data as readonly string[]).includes("created_at")) continue;
        ages[name] = NOW - Date.parse(String((await sample(name))["created_at"]));
      }
      const fresh = Object.keys(ages).filter((name) => ages[name] === 0);
      expect(fresh).toEqual([
        "user.created",
        "message.created",
        "thread.created",
        "file.uploaded",
        "invoice.created",
      ]);
      for (const age of Object.values(ages)) expect(age).toBeGreaterThanOrEqual(0);
    });

    it("a world without threads, stores and people still has samples [G25]", async () => {
      const bare = await startWebhooks({ fixture: { organizations: [{ id: "org_bare" }] } });
      const events = collectEmittedEvents(bare);
      for (const { name } of EVENTS) await bare.trigger({ event: name });
      expect(events.map(({ event }) => event)).toEqual(EVENTS.map(({ name }) => name));
      for (const { event, data } of events) expect(findDataErrors(event, data), event).toEqual([]);
      await bare.close();
    });
  });

  it("user.created contains user_id, email and created_at, and nothing else [6.2]", async () => {
    const { created_at } = await callState("GET", "users/usr_cleo");
    await api.trigger({ event: "user.created", for: "usr_cleo" });
    expect(emitted[0]!.data).toEqual({ user_id: "usr_cleo", email: "cleo@acme.test", created_at });
  });

  it("extra fields replace missing ones of the record [G25]", () => {
    const { world } = api.understudy.sandboxes.get("default")!;
    const tx = world.transact((tx) => {
      const file = fileProcessed.about.find(tx, "file_policies")!;
      emit(tx, fileProcessed, { ...file, store_id: "vs_other" });
      return tx;
    });
    expect(tx.events[0]).toMatchObject({
      event: "file.processed",
      organization_id: "org_acme",
      data: { file_id: "file_policies", status: "completed", store_id: "vs_other" },
    });
  });

  it("the OpenAPI document lists the webhooks, and every body sent fits it [6.2]", async () => {
    const document = buildOpenApiDocument(API, "test") as { webhooks: Record<string, object> };
    expect(Object.keys(document.webhooks)).toEqual([...EVENTS.map(({ name }) => name), "webhook.test"]);
    ajv.addSchema(document, "openapi");
    const receiver = await api.receiver();
    const { webhook_id } = await api.webhook(
      receiver.url,
      EVENTS.map(({ name }) => name),
    );
    for (const { name } of EVENTS) await api.trigger({ event: name });
    await api.call("ada", "POST", `/webhooks/${webhook_id}/test`);
    const bodies = (await receiver.requests()).map(({ body }) => JSON.parse(body));
    expect(bodies.map(({ event }) => event)).toEqual(Object.keys(document.webhooks));
    for (const body of bodies) {
      const place = `openapi#/webhooks/${body.event}/post/requestBody/content/application~1json/schema`;
      const fits = ajv.compile({ $ref: place });
      expect([fits(body), fits.errors], body.event).toEqual([true, null]);
      expect(fits({ ...body, event: "other" })).toBe(false);
    }
  });

  it("webhook.test contains what its declaration says [4.21]", async () => {
    const receiver = await api.receiver();
    const { webhook_id } = await api.webhook(receiver.url);
    await api.call("ada", "POST", `/webhooks/${webhook_id}/test`);
    const { event, data } = JSON.parse((await receiver.requests())[0]!.body);
    expect(event).toBe("webhook.test");
    expect(data).toEqual({ webhook_id, organization_id: "org_acme", description: "" });
    expect(findDataErrors(event, data)).toEqual([]);
  });
});
