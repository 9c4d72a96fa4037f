import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type AnyOperation, listErrorCodes } from "../../src/engine/contract/operation.ts";
import { RESOURCES } from "../../src/engine/resources/index.ts";
import { waitUntil } from "../support/eventually.ts";
import { type Api, type ApiResponse, type Caller, startReference } from "../support/harness.ts";
import { FreshWorld, type Sent } from "../support/openapi/fresh-world.ts";
import { RECIPES } from "../support/openapi/recipes.ts";
import { findRefusalRecipe } from "../support/openapi/refusals.ts";

/**
 * Sends secrets that occur nowhere else through every operation: with success, with every refusal and with every forced
 * fault. No readable output may then contain one of them, or a recognizable part of one.
 */
const OPERATIONS = RESOURCES.flatMap(({ operations }) => operations);
const PIECE = 12;

let api: Api;
let logged = "";
beforeAll(async () => {
  const write = (line: string) => {
    logged += line;
  };
  const log = pino({ level: "trace" }, { write });
  api = await startReference({ log });
});
afterAll(() => api.close());

const makeCanaryKey = (who: string) => `ak_${`CaNaRy7${who}Q`.padEnd(39, "Zx9Ym3")}`;
const WEBHOOK_SECRET = "whsec_CaNaRyWebhookSecretQ7Zx9Ym3Zx9Ym3";

/** A world whose users have keys that only this test uses. */
async function createCanaryWorld(): Promise<{ world: FreshWorld; secrets: Set<string> }> {
  const world = await FreshWorld.create(api);
  const secrets = new Set([WEBHOOK_SECRET]);
  for (const who of ["ada", "ben", "cleo", "dan", "eve"]) {
    const current = who === "eve" ? "org_globex" : "org_acme";
    const key = makeCanaryKey(who);
    await world.control("POST", "/state/api_keys", { user_id: `usr_${who}`, key, current });
    secrets.add(key);
  }
  await world.control("PATCH", "/state/webhooks/wh_ops", { secret: WEBHOOK_SECRET });
  return { world, secrets };
}

const OWN_KEYS = new Set<Caller | undefined>(["ada", "ben", "cleo", "dan", "eve"]);

/** The same request with the canary key of its user. Each call sends the key in the next of the places of section 5. */
let turn = 0;
function withCanary({ who, headers, ...sent }: Sent): Sent {
  if (!OWN_KEYS.has(who)) return { who, headers, ...sent };
  const key = makeCanaryKey(who!);
  const places: Record<string, string>[] = [
    { "api-key": key },
    { "x-api-key": key },
    { authorization: `Bearer ${key}` },
  ];
  return { ...sent, headers: { ...headers, ...places[turn++ % places.length] } };
}

/** Adds the secrets that the server issues to the canaries. */
function addIssuedSecrets(secrets: Set<string>, { body, status }: ApiResponse): void {
  if (status >= 300) return;
  const url = body?.upload_url && new URL(body.upload_url).searchParams.get("upload_id");
  for (const secret of [body?.access_token?.split(".")[2], body?.refresh_token, body?.data?.secret, url])
    if (typeof secret === "string") secrets.add(secret);
}

function listPieces(secret: string): string[] {
  const found = [secret];
  for (let at = 0; at + PIECE <= secret.length; at += PIECE / 2) found.push(secret.slice(at, at + PIECE));
  return found;
}

function expectNoSecret(text: string, secrets: ReadonlySet<string>, where: string): void {
  for (const secret of secrets) {
    for (const piece of listPieces(secret)) {
      const at = text.indexOf(piece);
      if (at >= 0)
        expect.fail(`${where} shows ${piece} of ${secret}: …${text.slice(Math.max(0, at - 150), at + 60)}…`);
    }
  }
}

/** Every output that describes the requests of a sandbox. */
async function readOutputs(world: FreshWorld): Promise<Record<string, string>> {
  const journal = await world.control("GET", "/journal?limit=1000");
  const [entry] = journal.body.entries;
  return {
    journal: journal.text,
    "journal entry": (await world.control("GET", `/journal/${entry.id}`)).text,
    "journal.har": (await world.control("GET", "/journal.har")).text,
    coverage: (await world.control("GET", "/coverage")).text,
    outbox: (await world.control("GET", "/outbox")).text,
    sandbox: (await world.control("GET", "")).text,
    metrics: (await api.call(undefined, "GET", "/_control/metrics")).text,
  };
}

/** Collects the journal's stream until it is closed. */
async function followJournal(world: FreshWorld) {
  const abort = new AbortController();
  const response = await fetch(`${api.url}/_control/sandboxes/${world.name}/journal/stream`, {
    signal: abort.signal,
  });
  let text = "";
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body!) text += decoder.decode(chunk as Uint8Array, { stream: true });
  })().catch(() => {});
  return {
    async upTo(count: number): Promise<string> {
      await waitUntil(() => (text.match(/^data: /gm) ?? []).length >= count);
      abort.abort();
      await reading;
      return text;
    },
  };
}

describe("a canary secret [quality 2.14]", () => {
  it.each(OPERATIONS.map((operation) => [operation.id, operation] as const))(
    "in %s is in no refusal, journal, stream, HAR or metrics [quality 2.14]",
    async (id, operation) => {
      const { world, secrets } = await createCanaryWorld();
      const stream = await followJournal(world);
      for (const [what, sent] of await listRequests(world, operation)) {
        const answer = await world.call(operation.path, operation.method, withCanary(sent));
        addIssuedSecrets(secrets, answer);
        if (answer.status >= 400) expectNoSecret(answer.text, secrets, `the answer to ${what}`);
      }
      const { body } = await world.control("GET", "/journal?limit=1");
      expect(body.total).toBeGreaterThan(1);
      expectNoSecret(await stream.upTo(body.total), secrets, "journal stream");
      for (const [where, text] of Object.entries(await readOutputs(world)))
        expectNoSecret(text, secrets, `${id}: ${where}`);
      await world.delete();
    },
  );

  async function listRequests(world: FreshWorld, operation: AnyOperation): Promise<[string, Sent][]> {
    const list: [string, Sent][] = [];
    const recipes = RECIPES[operation.id]!;
    for (const recipe of recipes) list.push([`the recipe for ${recipe.status}`, await recipe.request(world)]);
    const valid = await recipes[0]!.request(world);
    for (const code of listErrorCodes(operation)) {
      list.push([`a fault ${code}`, { ...valid, headers: { ...valid.headers, "x-sandbox-fault": code } }]);
      // A refusal of the whole sandbox would leave no request to examine.
      if (["RATE_LIMIT_EXCEEDED", "PAYLOAD_TOO_LARGE", "UPLOAD_EXPIRED"].includes(code)) continue;
      const spoiled = await findRefusalRecipe(operation, code)?.({ world, operation, valid });
      if (spoiled && !("status" in spoiled)) list.push([code, spoiled]);
    }
    return list;
  }

  it("in an unusual place is masked in everything stored [quality 2.14]", async () => {
    const { world, secrets } = await createCanaryWorld();
    const key = makeCanaryKey("dan");
    const json = { "content-type": "application/json" };
    const { body: token } = await world.call("/v1/auth/token", "POST", { body: { api_key: key } });
    const credentials = [token.access_token.split(".")[2], token.refresh_token];
    for (const secret of credentials) secrets.add(secret);
    const sent: [string, string, Sent][] = [
      ["/v1/models", "GET", { query: `api_key=${key}&x=${key}&token=${token.refresh_token}` }],
      ["/v1/models", "GET", { headers: { authorization: `bearer  ${key}` } }],
      ["/v1/models", "GET", { headers: { authorization: `Bearer ${token.access_token}x` } }],
      ["/v1/models", "GET", { headers: { authorization: token.access_token } }],
      ["/v1/models", "GET", { headers: { cookie: `session=${token.access_token}` } }],
      [`/v1/threads/${key}`, "DELETE", { who: "dan" }],
      [`/v1/nothing/${key}`, "GET", {}],
      ["/v1/auth/token", "POST", { body: `{"api_key":"${key}"`, headers: json }],
      ["/v1/auth/token", "POST", { body: `{"api_key":"${key}",,}`, headers: json }],
      ["/v1/auth/token", "POST", { body: `{"api_key":${key}}`, headers: json }],
      ["/v1/auth/token", "POST", { body: `api_key=${key}`, headers: { "content-type": "text/plain" } }],
      ["/v1/auth/token", "POST", { body: { api_key: [key] } }],
      ["/v1/auth/token", "POST", { body: { api_key: { nested: key } } }],
      ["/v1/auth/refresh", "POST", { body: { refresh_token: [token.refresh_token] } }],
      ["/v1/auth/refresh", "POST", { body: `{"refresh_token":"${token.refresh_token}`, headers: json }],
      ["/v1/auth/refresh", "POST", { body: { refresh_token: token.refresh_token, password: key } }],
      ["/v1/auth/refresh", "POST", { body: { refresh_token: token.refresh_token } }],
    ];
    for (const [path, method, one] of sent) {
      const answer = await world.call(path, method, one);
      addIssuedSecrets(secrets, answer);
      // The answer repeats an id or a value of the request (G08), but never a credential.
      const echoed = path.includes(key) || typeof (one.body as { api_key?: unknown })?.api_key === "object";
      const echoedToken = Array.isArray((one.body as { refresh_token?: unknown })?.refresh_token);
      if (answer.status >= 400 && !echoed && !echoedToken)
        expectNoSecret(answer.text, secrets, `${method} ${path}`);
    }
    // The journal stores the secret; its output masks it.
    const raw = api.understudy.sandboxes
      .get(world.name)!
      .journal.entries()
      .map(({ path, query, request_headers, request_body }) =>
        [path, query, ...request_headers, request_body].join(" "),
      )
      .join("\n");
    for (const secret of [key, ...credentials]) expect(raw).toContain(secret);
    for (const [where, text] of Object.entries(await readOutputs(world)))
      expectNoSecret(text, secrets, where);
    await world.delete();
  });

  it("is in no log or answer of an internal failure [quality 2.14]", async () => {
    const { world, secrets } = await createCanaryWorld();
    const operation = OPERATIONS.find(({ id }) => id === "departments.reparent")!;
    const failing = vi.spyOn(operation, "handle").mockImplementation(() => {
      throw new TypeError("a defect made by this test");
    });
    try {
      const sent = withCanary(await RECIPES[operation.id]![0]!.request(world));
      const answer = await world.call(operation.path, operation.method, sent);
      expect(answer.status).toBe(500);
      expect(answer.body.error).toMatchObject({ code: "INTERNAL_ERROR", type: "server_error", details: {} });
      expect(answer.text).not.toMatch(/a defect|\.ts|node_modules/);
      expect(logged).toContain("a defect made by this test");
      expect(logged).toContain(answer.body.error.trace_id);
      for (const [where, text] of Object.entries(await readOutputs(world)))
        expectNoSecret(text, secrets, where);
      expectNoSecret(logged, secrets, "the log");
    } finally {
      failing.mockRestore();
    }
    await world.delete();
  });
});
