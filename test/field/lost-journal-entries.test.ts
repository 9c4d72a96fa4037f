import { expect, it } from "vitest";
import { useReference } from "../support/use-reference.ts";

const api = useReference();
let count = 0;

/** A sandbox whose journal is complete, or has dropped the entries of this path and user. */
async function createVerifier(hasLost: boolean) {
  const name = `lost-${++count}`;
  const control = (path: string, body: object) =>
    api.call(undefined, "POST", `/_control/sandboxes${path}`, body);
  await control("", { name, settings: { journal_limit: 1 } });
  if (hasLost) {
    await api.call("dan", "GET", `/_s/${name}/v1/lost`);
    await api.call(undefined, "DELETE", `/_control/sandboxes/${name}/state/users/usr_dan`);
  }
  await api.call("ada", "GET", `/_s/${name}/v1/models`);
  return async (match: object) => (await control(`/${name}/journal/verify`, { match, count: 0 })).status;
}

it.each<[what: string, match: object, whole: number, lost: number]>([
  ["an operation that there is", { operation: "models.list" }, 200, 409],
  ["an unknown operation", { operation: "models.lst" }, 422, 422],
  ["an unknown event", { event: "user.born" }, 422, 422],
  ["an unknown code", { code: "NO_SUCH_CODE" }, 422, 422],
  ["a path with a query", { path: "/v1/models?a=1" }, 422, 422],
  ["a path without a slash", { path: "v1/models" }, 422, 422],
  ["an operation with another one's method", { operation: "models.list", method: "post" }, 422, 422],
  ["an operation with another one's path", { operation: "models.list", path: "/v1/lost" }, 422, 422],
  ["operations and a path that one of them has", { operation: "models.*", path: "/v1/models" }, 200, 409],
  ["a misspelled method", { method: "GTE" }, 422, 409],
  ["a method in lower case", { method: "delete" }, 200, 409],
  ["a broken pattern", { path: "/v1/{a" }, 422, 422],
  ["requests and deliveries at once", { operation: "models.list", attempt: 1 }, 422, 422],
  ["a path that may have been lost", { path: "/v1/lost" }, 422, 409],
  ["a user who may have been deleted", { principal: "usr_gone" }, 422, 409],
  ["a webhook that may have been deleted", { webhook: "wh_gone" }, 422, 409],
])(
  "verify of %s answers as documented, with a complete journal and with dropped entries",
  async (_what, match, whole, lost) => {
    expect(await (await createVerifier(false))(match)).toBe(whole);
    expect(await (await createVerifier(true))(match)).toBe(lost);
  },
);

it("a journal that has evicted entries for their size does not advise to raise the setting journal_limit", async () => {
  await api.call(undefined, "POST", "/_control/sandboxes", { name: "large" });
  const S = "/_control/sandboxes/large";
  const verify = { match: { operation: "models.list" }, count: 0 };
  for (let sent = 0; sent < 4; sent++)
    await api.call("ada", "POST", "/_s/large/v1/organizations/org_acme/departments/dept_ml/reparent", {
      new_parent_id: "a".repeat(9 * 1024 * 1024),
    });
  const answers = [
    await api.call(undefined, "POST", `${S}/journal/verify`, verify),
    await api.call(undefined, "POST", `${S}/bundle`),
  ];
  for (const { status, body } of answers)
    expect([status, body.advice]).toEqual([
      409,
      expect.stringMatching(/^((?!journal_limit).)*at most 32 MB/),
    ]);
  await api.call(undefined, "PATCH", S, { settings: { journal_limit: 1 } });
  await api.call("ada", "GET", "/_s/large/v1/models");
  const lowered = await api.call(undefined, "POST", `${S}/journal/verify`, verify);
  expect(lowered.body.advice).toContain("raise the setting journal_limit");
});
