import { describe, expect, it } from "vitest";
import { readScenario } from "../../src/engine/faults/scenario.ts";
import { API } from "../../src/engine/resources/index.ts";
import { KEYS } from "../support/harness.ts";
import { sendRawRequest } from "../support/raw-request.ts";
import { useReference } from "../support/use-reference.ts";

const api = useReference();
let count = 0;

async function arm(match: object, effect: object = { status: 503 }) {
  const name = `match-${++count}`;
  await api.call(undefined, "POST", "/_control/sandboxes", { name });
  const armed = await api.call(undefined, "POST", `/_control/sandboxes/${name}/faults`, { match, effect });
  return { name, armed };
}

/** The status of a request in a sandbox with this rule. */
async function sendWithRule(match: object, path: string, effect?: object): Promise<number> {
  const { name, armed } = await arm(match, effect);
  expect(armed.status, armed.text).toBe(201);
  return (await api.call("dan", "GET", `/_s/${name}${path}`)).status;
}

async function expectRefusal(match: object, effect?: object): Promise<unknown[]> {
  const { status, body } = (await arm(match, effect)).armed;
  return [status, body.field, body.detail];
}

const STUB = { status: 201, body: {} };

describe("a rule matches what its author wrote", () => {
  it.each([
    ["/v1/städte/Zürich", "/v1/st%C3%A4dte/Z%C3%BCrich"],
    ["/v1/städte/Zürich", "/v1/st%c3%a4dte/Z%c3%bcrich"],
    ["/v1/städte/*", "/v1/st%C3%A4dte/Bern"],
    ["/v1/{städte,orte}/x", "/v1/st%C3%A4dte/x"],
    ["/v1/two words/😀", "/v1/two%20words/%F0%9F%98%80"],
  ])("if its path %s has characters that a URL encodes: %s [interfaces 6]", async (path, sent) => {
    expect(await sendWithRule({ method: "GET", path }, sent, STUB)).toBe(201);
    const { name } = await arm({ method: "GET", path: "/v1/other" }, STUB);
    await api.call("dan", "GET", `/_s/${name}${sent}`);
    const verify = `/_control/sandboxes/${name}/journal/verify`;
    const { body } = await api.call(undefined, "POST", verify, { match: { path }, count: 1 });
    expect(body).toMatchObject({ ok: true });
  });

  it("if its path's id has such characters, also for an operation [interfaces 6]", async () => {
    const { name, armed } = await arm({ path: "/v1/threads/thread_ü" });
    expect(armed.status).toBe(201);
    expect((await api.call("dan", "DELETE", `/_s/${name}/v1/threads/thread_%C3%BC`)).status).toBe(503);
  });

  it.each([
    [1.1, "1.10"],
    [1, "1.0"],
    [1234, "01234"],
    [1000, "1e3"],
    [true, "True"],
    [false, "FALSE"],
  ])("if YAML reads %s from the text %s of a parameter or header [interfaces 6]", async (value, sent) => {
    const match = { operation: "models.list", query: { v: value } };
    expect(await sendWithRule(match, `/v1/models?v=${sent}`)).toBe(503);
    const { name } = await arm({ operation: "models.list", header: { "X-Version": value } });
    const headers = { "api-key": KEYS.dan, "x-version": sent };
    expect((await fetch(`${api.url}/_s/${name}/v1/models`, { headers })).status).toBe(503);
  });

  it.each(["1.11", "", "1.1x", "2"])("but no other number for %j", async (sent) => {
    expect(await sendWithRule({ operation: "models.list", query: { v: 1.1 } }, `/v1/models?v=${sent}`)).toBe(
      200,
    );
    expect(await sendWithRule({ operation: "models.list", query: { v: 0 } }, `/v1/models?v=${sent}`)).toBe(
      200,
    );
    expect(await sendWithRule({ operation: "models.list", query: { v: true } }, `/v1/models?v=${sent}`)).toBe(
      200,
    );
  });

  it("but a string only if it is equal", async () => {
    expect(await sendWithRule({ operation: "models.list", query: { v: "1.1" } }, "/v1/models?v=1.10")).toBe(
      200,
    );
    expect(await sendWithRule({ operation: "models.list", query: { v: "true" } }, "/v1/models?v=True")).toBe(
      200,
    );
  });

  it("if a header's value was sent in UTF-8, as curl does, or in Latin-1, as browsers do", async () => {
    const { name } = await arm({ operation: "models.list", header: { "X-City": "Zürich" } });
    for (const encoding of ["utf8", "latin1"] as const) {
      const city = Buffer.from("Zürich", encoding).toString("latin1");
      const { status } = await sendRawRequest(Number(new URL(api.url).port), [
        `GET /_s/${name}/v1/models HTTP/1.1`,
        "Host: localhost",
        `api-key: ${KEYS.dan}`,
        `X-City: ${city}`,
        "Connection: close",
      ]);
      expect([encoding, status]).toEqual([encoding, 503]);
    }
  });
});

it("a rule may name a header's value of any length", async () => {
  const { armed } = await arm({ operation: "models.list", header: { "X-Token": "a".repeat(300_000) } });
  expect(armed.status).toBe(201);
});

describe("a rule that no request can match is refused with the reason [interfaces 11]", () => {
  it.each([
    [{ header: { "X Foo": "a" } }, 'match.header["X Foo"]', /not a valid name of a header/],
    [{ header: { "": "a" } }, 'match.header[""]', /not a valid name of a header/],
    [{ header: { "X-Foo": "a", "x-foo": "b" } }, "match.header.x-foo", /the same header as `X-Foo`/],
    [{ path: "/v1/threads/:thread_id" }, "match.path", /`:thread_id` .*\{thread_id\}/],
    [{ principal: "usr_*" }, "match.principal", /one id/],
    [{ api_key: "apikey_{ada,ben}" }, "match.api_key", /one id/],
    [{ organization: "org_*" }, "match.organization", /one id/],
    [{ event: "user.created", webhook: "wh_*" }, "match.webhook", /one id/],
  ])("%j", async (match, field, reason) => {
    expect(await expectRefusal(match)).toEqual([422, field, expect.stringMatching(reason)]);
  });

  it.each(["0s", 0, "PT0S"])("if its lease ends at once: %s", async (ttl) => {
    const { status, body } = await api.call(undefined, "POST", "/_control/sandboxes/default/faults", {
      match: { operation: "models.list" },
      effect: { status: 503 },
      lease: { ttl },
    });
    expect([status, body.field]).toEqual([422, "lease.ttl"]);
    expect(body.detail).toContain("more than 0");
  });

  it("also in a verification and an expectation of no requests, which would always be true", async () => {
    const match = { path: "/v1/threads/:thread_id" };
    const verify = "/_control/sandboxes/default/journal/verify";
    const { status, body } = await api.call(undefined, "POST", verify, { match, count: 0 });
    expect([status, body.field, body.detail]).toEqual([
      422,
      "match.path",
      expect.stringContaining("write {thread_id} or *"),
    ]);
    const text = `rules: [{ effect: { status: 503 } }]\nexpect: [{ match: { path: "${match.path}" }, count: 0 }]\n`;
    expect(() => readScenario({ text, displayName: "s.yaml", file: "s.yaml" }, API)).toThrow(
      /write \{thread_id\} or \*/,
    );
  });

  it("but a colon within a part of a path is an ordinary character", async () => {
    expect(
      await sendWithRule({ method: "GET", path: "/v1/jobs:batch/a:1" }, "/v1/jobs:batch/a:1", STUB),
    ).toBe(201);
  });
});

describe("an effect that would be lost is refused", () => {
  const MATCH = { operation: "models.list" };
  it("if two of its headers differ only in case", async () => {
    const headers = { "X-Edge": "fra", "x-edge": "ams" };
    expect(await expectRefusal(MATCH, { status: 503, headers })).toEqual([
      422,
      "effect.headers.x-edge",
      expect.stringContaining("the same header as `X-Edge`"),
    ]);
  });

  it.each([
    { wire: "truncate", status: 200, body: "" },
    { wire: "truncate", status: 200 },
    { wire: "truncate", body: "" },
  ])("if it truncates a body that is empty: %j", async (effect) => {
    expect(await expectRefusal(MATCH, effect)).toEqual([
      422,
      "effect.wire",
      expect.stringContaining("no body"),
    ]);
  });

  it("but not for a delivery: a broken connection has no answer, whatever its status", async () => {
    const { armed } = await arm({ event: "user.created" }, { wire: "truncate", status: 200 });
    expect(armed.status).toBe(201);
  });
});
