import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Api, startReference } from "../support/harness.ts";
import { getStateRules } from "../support/state-rules.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const KEYS_IN_ORDER = ["atlas-large", "breeze-chat", "comet-mini"];
const listKeys = (body: { models: { key: string }[] }) => body.models.map(({ key }) => key);
const listForOrganization = (who: Parameters<Api["call"]>[0], id = "org_acme") =>
  api.call(who, "GET", `/v1/organizations/${id}/models`);

describe("models.list [G21]", () => {
  it("has the active models by order, then title, without organization_id [G21, 2.8]", async () => {
    const { status, body } = await api.call("eve", "GET", "/v1/models");
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(["models", "total_count"]);
    expect(body.total_count).toBe(3);
    expect(listKeys(body)).toEqual(KEYS_IN_ORDER);
    expect(body.models[1]).toEqual({
      id: expect.stringMatching(/^model_/),
      title: "Breeze Chat",
      description: body.models[1].description,
      key: "breeze-chat",
      external: expect.any(String),
      provider: expect.stringMatching(/^vendor_[a-d]$/),
      is_active: true,
      is_visible_in_ui: true,
      order: 20,
      max_tokens: null,
      cost_per_1k_tokens: null,
    });
  });

  it("answers the same at /v2/models, or 404 if that is off [G21]", async () => {
    const [v1, v2] = [await api.call("dan", "GET", "/v1/models"), await api.call("dan", "GET", "/v2/models")];
    expect(v2.status).toBe(200);
    expect(v2.text).toBe(v1.text);
    await api.close();
    api = await startReference({ settings: { v2_models: "off" } });
    const off = await api.call("dan", "GET", "/v2/models");
    expect(off.status).toBe(404);
    expect(off.body.error.code).toBe("RESOURCE_NOT_FOUND");
    expect((await api.call("dan", "GET", "/v1/models")).status).toBe(200);
    expect((await api.call(undefined, "GET", "/v2/models")).status).toBe(401);
  });

  it("follows changes of order and title [4.18]", async () => {
    const models = getStateRules(api, "models");
    models.post({ key: "echo", title: "A small one", order: 20 });
    models.post({ key: "first", order: 3 });
    models.patch("model_dune-legacy", { is_active: true });
    models.patch("model_atlas-large", { order: 100 });
    const { body } = await api.call("dan", "GET", "/v1/models");
    expect(listKeys(body)).toEqual([
      "first",
      "dune-legacy",
      "echo",
      "breeze-chat",
      "comet-mini",
      "atlas-large",
    ]);
  });

  it("orders titles by code points [G39]", async () => {
    const models = getStateRules(api, "models");
    const titles = ["\u{1f600} face", "zebra", "Zebra", "\uff21 wide", "\u00c4pfel", "apple"];
    for (const [n, title] of titles.entries()) models.post({ key: `k${n}`, title, order: 1 });
    const { body } = await api.call("dan", "GET", "/v1/models");
    const shown = body.models.map(({ title }: { title: string }) => title).slice(0, titles.length);
    expect(shown).toEqual(["Zebra", "apple", "zebra", "\u00c4pfel", "\uff21 wide", "\u{1f600} face"]);
  });

  it("never has two models with the same key [interfaces 4]", () => {
    expect(() => getStateRules(api, "models").post({ id: "model_two", key: "comet-mini" })).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ field: "key" }) }),
    );
  });
});

describe("models.list_for_organization [4.18]", () => {
  it("is 404 in pending mode, after the credentials are checked [G22]", async () => {
    const answer = await listForOrganization("dan");
    expect(answer.status).toBe(404);
    expect(answer.body.error.code).toBe("RESOURCE_NOT_FOUND");
    expect(answer.body.error.message).toMatch(/announced/);
    expect((await listForOrganization(undefined)).status).toBe(401);
  });

  describe("with preview on", () => {
    beforeEach(async () => {
      await api.close();
      api = await startReference({ settings: { preview: "on" } });
    });

    it("has the organization's active models in order [4.18, 2.8]", async () => {
      const { status, body } = await listForOrganization("dan");
      expect(status).toBe(200);
      expect(Object.keys(body)).toEqual(["organization_id", "models", "total_count"]);
      expect(body).toMatchObject({ organization_id: "org_acme", total_count: 3 });
      expect(listKeys(body)).toEqual(KEYS_IN_ORDER);
    });

    it.each([
      ["eve", "org_acme", 403, "INSUFFICIENT_PERMISSIONS"],
      ["dan", "org_none", 404, "ORGANIZATION_NOT_FOUND"],
      [undefined, "org_acme", 401, "AUTHENTICATION_REQUIRED"],
    ] as const)("answers %s at %s with %d %s [4.18, G22]", async (who, id, status, code) => {
      const answer = await listForOrganization(who, id);
      expect(answer.status).toBe(status);
      expect(answer.body.error.code).toBe(code);
    });
  });
});
