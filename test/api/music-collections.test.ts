import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Api, type Caller, startReference } from "../support/harness.ts";
import { getStateRules } from "../support/state-rules.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const list = (query = "", collection = "mcoll_focus", who: Caller = "dan", organization = "org_acme") =>
  api.call(who, "GET", `/v1/music/${organization}/collections/${collection}/tracks${query}`);
const readIds = (body: { items: { track_id: string }[] }) => body.items.map(({ track_id }) => track_id);

describe("music_collections.list_tracks", () => {
  it("has 200 of 450 tracks on the first page, by position [4.4]", async () => {
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(["collection_id", "items", "limit", "offset"]);
    expect([body.collection_id, body.limit, body.offset]).toEqual(["mcoll_focus", 200, 0]);
    expect(body.items.map(({ position }: { position: number }) => position)).toEqual(
      Array.from({ length: 200 }, (_, n) => n),
    );
    expect(body.items[0]).toEqual({
      track_id: expect.stringMatching(/^mtrack_/),
      position: 0,
      added_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
  });

  it("has each track on exactly one page [4.4]", async () => {
    const pages = await Promise.all([0, 200, 400, 600].map((offset) => list(`?limit=200&offset=${offset}`)));
    expect(pages.map(({ body }) => body.items.length)).toEqual([200, 200, 50, 0]);
    const all = readIds((await list("?limit=500")).body);
    expect(pages.flatMap(({ body }) => readIds(body))).toEqual(all);
    expect(new Set(all).size).toBe(450);
  });

  it("is empty for an empty collection [4.4]", async () => {
    expect((await list("", "mcoll_empty")).body.items).toEqual([]);
    expect((await list("", "mcoll_ada", "ada")).body.items).toHaveLength(3);
  });

  it.each([
    ["limit", "0", "0"],
    ["limit", "501", "501"],
    ["limit", "-1", "-1"],
    ["limit", "1.5", "1.5"],
    ["limit", "", ""],
    ["limit", "ten", "ten"],
    ["offset", "-1", "-1"],
    ["offset", "1e3", "1e3"],
  ])("answers 422 to %s=%s [8, G08]", async (field, text, value) => {
    const { status, body } = await list(`?${field}=${text}`);
    expect([status, body.error.code, body.error.details]).toEqual([422, "INVALID_INPUT", { field, value }]);
  });

  it("accepts the smallest and the largest page size [8]", async () => {
    expect((await list("?limit=1")).body.items).toHaveLength(1);
    expect((await list("?limit=500")).body.items).toHaveLength(450);
  });

  it("clamps page sizes and offsets with out_of_range_limits clamp [G08]", async () => {
    await api.close();
    api = await startReference({ settings: { out_of_range_limits: "clamp" } });
    expect((await list("?limit=9999&offset=-5")).body).toMatchObject({ limit: 500, offset: 0 });
    expect((await list("?limit=0")).body.limit).toBe(1);
    const huge = (await list(`?limit=${"9".repeat(20)}&offset=-${"9".repeat(20)}`)).body;
    expect(huge).toMatchObject({ limit: 500, offset: 0 });
    expect((await list("?limit=abc")).status).toBe(422);
  });

  it.each([
    ["unknown", "mcoll_none", "dan", "org_acme"],
    ["another member's", "mcoll_ada", "dan", "org_acme"],
    ["in an unknown organization", "mcoll_focus", "dan", "org_nowhere"],
    ["in a foreign organization", "mcoll_focus", "dan", "org_globex"],
    ["seen from outside", "mcoll_focus", "eve", "org_acme"],
    ["not the owner's, for an admin", "mcoll_focus", "ben", "org_acme"],
  ] as const)(
    "answers 404 with the id for a collection that is %s [4.4, G03]",
    async (_why, id, who, organization) => {
      const { status, body } = await list("", id, who, organization);
      expect([status, body.error.code, body.error.details]).toEqual([
        404,
        "RESOURCE_NOT_FOUND",
        { collection_id: id },
      ]);
    },
  );

  it("refuses a former member, and answers 401 without credentials [4.4]", async () => {
    getStateRules(api, "users").patch("usr_dan", { memberships: {} });
    expect((await list()).status).toBe(404);
    const path = "/v1/music/org_acme/collections/mcoll_focus/tracks";
    const { status, body } = await api.call(undefined, "GET", path);
    expect([status, body.error.code]).toEqual([401, "AUTHENTICATION_REQUIRED"]);
  });

  it("answers 422 to malformed ids in the path [G08]", async () => {
    expect((await list("", "focus")).body.error.details).toEqual({ field: "collection_id", value: "focus" });
    expect((await list("", "mcoll_focus", "dan", "acme")).body.error.details).toEqual({
      field: "organization_id",
      value: "acme",
    });
  });
});

describe("state rules of collections and tracks", () => {
  const getTrackRules = () => getStateRules(api, "tracks");
  const order = async () => readIds((await list("", "mcoll_ada", "ada")).body);

  it("keep the positions 0, 1, 2 … if a track is inserted, moved or removed [2.3]", async () => {
    const [a, b, c] = (await order()) as [string, string, string];
    getTrackRules().post({ track_id: "mtrack_new", collection_id: "mcoll_ada", position: 1 });
    expect(await order()).toEqual([a, "mtrack_new", b, c]);
    getTrackRules().post({ track_id: "mtrack_end", collection_id: "mcoll_ada" });
    getTrackRules().patch(`mcoll_ada:${a}`, { position: 3 });
    expect(await order()).toEqual(["mtrack_new", b, c, a, "mtrack_end"]);
    getTrackRules().remove(`mcoll_ada:${b}`);
    expect(await order()).toEqual(["mtrack_new", c, a, "mtrack_end"]);
    const { body } = await list("", "mcoll_ada", "ada");
    expect(body.items.map(({ position }: { position: number }) => position)).toEqual([0, 1, 2, 3]);
  });

  it("refuse a position after the end and an unknown collection [2.3]", () => {
    const makeRefusal = (field: string) =>
      expect.objectContaining({ details: expect.objectContaining({ field }) });
    expect(() => getTrackRules().post({ collection_id: "mcoll_ada", position: 4 })).toThrow(
      makeRefusal("position"),
    );
    expect(() => getTrackRules().patch("mcoll_ada:mtrack_ada_0001", { position: 3 })).toThrow(
      makeRefusal("position"),
    );
    expect(() => getTrackRules().post({ collection_id: "mcoll_none" })).toThrow(makeRefusal("collection_id"));
  });

  it("allow the same track in several collections [G39]", async () => {
    const [track_id] = (await order()) as [string];
    const { record } = getTrackRules().post({ track_id, collection_id: "mcoll_empty" });
    expect(record).toMatchObject({ id: `mcoll_empty:${track_id}`, position: 0 });
    getTrackRules().remove(`mcoll_ada:${track_id}`);
    expect(await order()).not.toContain(track_id);
    expect(readIds((await list("", "mcoll_empty")).body)).toEqual([track_id]);
    expect(getTrackRules().post({ id: "mcoll_ada:mtrack_named" }).record).toMatchObject({
      collection_id: "mcoll_ada",
      track_id: "mtrack_named",
      position: 2,
    });
  });

  it.each([
    ["collection_id", "mcoll_empty"],
    ["track_id", "mtrack_other"],
  ])("refuse to change %s of an entry [G39]", (field, value) => {
    expect(() => getTrackRules().patch("mcoll_ada:mtrack_ada_0001", { [field]: value })).toThrow(
      expect.objectContaining({ details: { field, value } }),
    );
  });

  it("delete the tracks of a deleted collection [interfaces 4]", async () => {
    getStateRules(api, "music_collections").remove("mcoll_ada");
    expect((await list("", "mcoll_ada", "ada")).status).toBe(404);
    expect(getTrackRules().size()).toBe(450);
  });
});
