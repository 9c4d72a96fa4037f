import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Api, type Caller, startReference } from "../support/harness.ts";
import { getStateRules } from "../support/state-rules.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const remove = (who: Caller | undefined, id: string) => api.call(who, "DELETE", `/v1/threads/${id}`);
const getThreadRules = () => getStateRules(api, "threads");
const getMessageRules = () => getStateRules(api, "messages");

describe("threads.delete [4.7]", () => {
  it.each(["dan", "ada", "ben"] as const)(
    "is allowed to the thread's owner and administrators (%s) [4.7, G02]",
    async (who) => {
      const answer = await remove(who, "thread_welcome");
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({
        success: true,
        threadId: "thread_welcome",
        message: expect.stringMatching(/./),
      });
      expect(answer.headers.get("x-sandbox-decision")).toBe("ok");
      expect(getThreadRules().get("thread_welcome")).toBeUndefined();
    },
  );

  it("deletes the thread's messages, and no others [3.8]", async () => {
    expect(getMessageRules().size()).toBe(256);
    await remove("dan", "thread_long");
    expect(getMessageRules().size()).toBe(6);
    expect(getThreadRules().size()).toBe(2);
    const again = await remove("dan", "thread_long");
    expect(again.status).toBe(404);
  });

  it.each([
    ["another's thread", "dan", "thread_ada"],
    ["a colleague's thread with another capability", "cleo", "thread_welcome"],
    ["a stranger's organization", "eve", "thread_welcome"],
  ] as const)("answers %s with 403 in envelope B [4.7, G02]", async (_, who, id) => {
    const answer = await remove(who, id);
    expect(answer.status).toBe(403);
    expect(answer.body).toEqual({
      error: { message: expect.any(String), type: "permission_error", code: "insufficient_permissions" },
    });
    expect(answer.headers.get("x-sandbox-decision")).toBe("access");
    expect(getThreadRules().get(id)).toBeDefined();
  });

  it("answers an unknown thread with 404 thread_not_found in envelope B [4.7]", async () => {
    const answer = await remove("ada", "thread_none");
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual({
      error: { message: expect.any(String), type: "not_found_error", code: "thread_not_found" },
    });
  });

  it("answers missing credentials with 401 missing_authentication in envelope B [4.7]", async () => {
    const answer = await remove(undefined, "thread_welcome");
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual({
      error: { message: expect.any(String), type: "authentication_error", code: "missing_authentication" },
    });
  });

  it("answers a malformed id with 422 and param in envelope B [4.7, G08]", async () => {
    const answer = await remove("dan", "welcome");
    expect(answer.status).toBe(422);
    expect(answer.body.error).toEqual({
      message: expect.any(String),
      type: "invalid_request_error",
      code: "INVALID_INPUT",
      param: "thread_id",
    });
  });

  it("answers a rate limit in envelope B [4.7, G05]", async () => {
    for (let i = 0; i < 100; i++) await remove("eve", "thread_none");
    const answer = await remove("eve", "thread_none");
    expect(answer.status).toBe(429);
    expect(answer.body.error).toMatchObject({ type: "rate_limit_error", code: "rate_limit_exceeded" });
    expect(answer.headers.get("retry-after")).toBe("60");
  });
});

describe("state rules of threads and messages [G18]", () => {
  it("emit one event for a deleted thread, without its messages [G25]", () => {
    const { emitted } = getThreadRules().remove("thread_long");
    expect(emitted).toEqual([
      {
        event: "thread.deleted",
        organization_id: "org_acme",
        data: { thread_id: "thread_long", organization_id: "org_acme" },
      },
    ]);
    expect(getMessageRules().size()).toBe(6);
  });

  it("emit events with the public fields for created and updated threads [G25]", () => {
    const created = getThreadRules().post({ id: "thread_new", owner_id: "usr_ben", title: "Hello" });
    const data = {
      thread_id: "thread_new",
      organization_id: "org_acme",
      owner_id: "usr_ben",
      title: "Hello",
      created_at: "2026-03-15T12:00:00.000Z",
    };
    expect(created.emitted).toEqual([{ event: "thread.created", organization_id: "org_acme", data }]);
    expect(getThreadRules().patch("thread_new", { title: "Hi" }).emitted).toEqual([
      { event: "thread.updated", organization_id: "org_acme", data: { ...data, title: "Hi" } },
    ]);
    expect(getThreadRules().patch("thread_new", { title: "Hi" }).emitted).toEqual([]);
    expect(getThreadRules().patch("thread_new", { title: "Ho" }, { silent: true }).emitted).toEqual([]);
  });

  it("emit events for created, updated and deleted messages [G25]", () => {
    const { record, emitted } = getMessageRules().post({
      thread_id: "thread_ada",
      content: "One more thing",
    });
    expect(emitted).toEqual([
      {
        event: "message.created",
        organization_id: "org_acme",
        data: {
          message_id: record.id,
          thread_id: "thread_ada",
          role: "user",
          content: "One more thing",
          created_at: "2026-03-15T12:00:00.000Z",
        },
      },
    ]);
    expect(getMessageRules().patch(record.id, { content: "Never mind" }).emitted).toMatchObject([
      { event: "message.updated", data: { message_id: record.id, content: "Never mind" } },
    ]);
    expect(getMessageRules().remove(record.id).emitted).toMatchObject([
      { event: "message.deleted", data: { message_id: record.id } },
    ]);
    expect(getMessageRules().size()).toBe(256);
  });

  it.each([
    ["threads", { organization_id: "org_none" }, "organization_id"],
    ["threads", { owner_id: "usr_none" }, "owner_id"],
    ["messages", { thread_id: "thread_none" }, "thread_id"],
  ] as const)("refuse a call on %s with %j [interfaces 4]", (collection, fields, field) => {
    expect(() => getStateRules(api, collection).post(fields)).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT", details: expect.objectContaining({ field }) }),
    );
  });
});
