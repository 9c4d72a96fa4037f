import { readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { replayBundle } from "../../src/client/replay/replay-bundle.ts";
import type { UnderstudyOptions } from "../../src/control/understudy-options.ts";
import { type Bundle, type RequestStep, readBundle } from "../../src/tools/bundle/bundle.ts";
import { waitUntil, waitUntilPasses } from "../support/eventually.ts";
import { type Api, EPOCH, KEYS, startReference } from "../support/harness.ts";
import { createTempFolder, removeTempFolders, runCommand } from "../support/run-understudy.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const open: Api[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((api) => api.close()));
});
afterAll(removeTempFolders);

const S = "/_control/sandboxes/default";

type Started = Awaited<ReturnType<typeof start>>;

async function start(options: UnderstudyOptions = {}) {
  const api = await startReference(options);
  open.push(api);
  const control = (method: string, path: string, body?: unknown) =>
    api.call(undefined, method, S + path, body);
  const fetchBundle = async () => {
    const { status, body, text } = await control("POST", "/bundle");
    expect(status, text).toBe(200);
    return body as Bundle;
  };
  return { ...api, control, bundle: fetchBundle };
}

const listRequests = ({ steps }: Bundle) => steps.filter((step): step is RequestStep => "request" in step);

/** Uses credentials of every kind, both APIs, the clock, faults, uploads and an export. */
async function makeCalls({ call, control, url }: Awaited<ReturnType<typeof start>>) {
  const { body: grant } = await call("dan", "POST", "/v1/auth/token");
  const bearer = { authorization: `Bearer ${grant.access_token}` };
  await call(undefined, "GET", "/v1/models", undefined, bearer);
  const { body: renewed } = await call(undefined, "POST", "/v1/auth/refresh", {
    refresh_token: grant.refresh_token,
  });
  await call(undefined, "GET", "/v1/models", undefined, { authorization: `Bearer ${renewed.access_token}` });
  await call(undefined, "POST", "/v1/auth/token", { api_key: KEYS.ada });
  await call(undefined, "GET", "/v1/models", undefined, { "api-key": `ak_${"n".repeat(39)}` });
  await call("dan", "DELETE", "/v1/threads/thread_long");
  await call("dan", "DELETE", "/v1/threads/thread_long");
  const { body: receiver } = await control("POST", "/receivers", { answers: [500, 200] });
  const { body: made } = await call("ada", "POST", "/webhooks", {
    url: receiver.url,
    events: ["user.updated"],
  });
  await control("PATCH", `/receivers/${receiver.id}`, { secret: made.data?.secret ?? made.secret });
  await control("PATCH", "/state/users/usr_dan?actor=usr_ada", { name: "Daniel ⟦W⟧" });
  await control("POST", "/clock/advance", { by: "2m" });
  const id = (made.data ?? made).webhook_id;
  await call("ada", "GET", `/webhooks/${id}/deliveries`);
  await control("POST", "/faults", {
    match: { operation: "models.list", api_key: "apikey_ada" },
    sequence: [503, "RATE_LIMIT_EXCEEDED", "pass"],
  });
  for (let i = 0; i < 3; i++) await call("ada", "GET", "/v1/models");
  await control("PUT", "/scenarios/active", { names: ["flaky-ten-percent"] });
  for (let i = 0; i < 12; i++) await call("ada", "GET", "/v1/models");
  await fetch(`${url}/v1/models`, { headers: { "api-key": KEYS.ada, "X-Sandbox-Fault": "reset" } }).catch(
    () => {},
  );
  await control("PUT", "/scenarios/active", { names: [] });
  await control("POST", "/snapshots", { name: "here" });
  await call("ada", "GET", "/v1/organizations/org_acme/audit-log/export");
  const about = { filename: "a.bin", file_size: 6, mime_type: "application/octet-stream" };
  const { body: place } = await call("ada", "POST", "/v1/organizations/org_acme/files/upload-url", about);
  await fetch(place.upload_url, { method: "PUT", body: Buffer.from([0, 255, 254, 10, 13, 200]) });
  await call("ada", "POST", "/v1/organizations/org_acme/files", { ...about, gcs_path: place.gcs_path });
  const form = new FormData();
  form.set("file", new File(["plain"], "notes.txt", { type: "text/plain" }));
  await fetch(`${url}/v1/organizations/org_acme/files/upload`, {
    method: "POST",
    body: form,
    headers: { "api-key": KEYS.ada },
  });
  await control("POST", "/snapshots/here/restore");
  await call("ada", "POST", "/v1/organizations/org_acme/files", { ...about, gcs_path: place.gcs_path });
  await call("ada", "GET", "/v1/nowhere?x=%E2%9F%A6&y=1");
  return { grant, renewed, made };
}

describe("a bundle", () => {
  it("contains the world, requests, changing calls and answers in their order [interfaces 4]", async () => {
    const api = await start({ seed: 9 });
    await api.call("dan", "GET", "/v1/models");
    expect((await api.control("POST", "/state/threads")).status).toBe(201);
    await api.control("GET", "/state/threads");
    await api.call("dan", "DELETE", "/v1/threads/thread_welcome");
    const bundle = await api.bundle();
    expect(bundle).toMatchObject({
      format: "understudy-bundle",
      version: 1,
      sandbox: "default",
      seed: 9,
      resets: 0,
      clock: { mode: "frozen", start: EPOCH },
      fixture: { name: "reference" },
    });
    expect(bundle.steps.map((step) => ("request" in step ? step.request.target : step.control.path))).toEqual(
      ["/v1/models", "/state/threads", "/v1/threads/thread_welcome"],
    );
    expect(listRequests(bundle)[0]!.answer).toMatchObject({
      status: 200,
      body: { text: expect.stringContaining("models") },
    });
  });

  it("names credentials and contains no secret [interfaces 4]", async () => {
    const api = await start();
    const { grant, renewed, made } = await makeCalls(api);
    await api.call(undefined, "GET", "/v1/models", undefined, {
      authorization: "Bearer canary-1",
      cookie: "canary-2",
    });
    await api.call("ada", "POST", "/v1/nowhere?token=canary-3", {});
    await api.call("ada", "POST", "/v1/auth/token", { password: "canary-4", note: "stays" });
    await api.control("POST", "/receivers", { secret: "whsec_canary5canary5" });
    const hook = { url: "https://a.test/hook?token=canary-6", events: ["user.updated"] };
    expect((await api.call("ada", "POST", "/webhooks", hook)).body.data.url).toBe(hook.url);
    const bundle = await api.bundle();
    const text = JSON.stringify(bundle);
    const secrets = [
      ...Object.values(KEYS),
      ...[grant.access_token, grant.refresh_token, renewed.access_token, (made.data ?? made).secret],
      ...["canary-1", "canary-2", "canary-3", "canary-4", "canary5canary5", "canary-6"],
      "referenceSecret",
    ];
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect(text).toContain("stays");
    expect(listRequests(bundle)[0]!.request.headers).toContainEqual(["api-key", "⟦api_key:apikey_dan⟧"]);
    expect(await replayBundle(bundle)).toEqual({
      requests: listRequests(bundle).length,
      control_calls: bundle.steps.length - listRequests(bundle).length,
    });
  });

  it("replays calls with API keys that were deleted or replaced meanwhile [interfaces 4]", async () => {
    const api = await start();
    const { body: created } = await api.control("POST", "/state/api_keys", { user_id: "usr_dan" });
    const rotated = `ak_${"r".repeat(39)}`;
    const readStatuses = () =>
      Promise.all(
        [created.key, KEYS.dan, rotated].map(
          async (key) =>
            (await api.call(undefined, "GET", "/v1/models", undefined, { "api-key": key })).status,
        ),
      );
    expect(await readStatuses()).toEqual([200, 200, 401]);
    await api.control("DELETE", `/state/api_keys/${created.id}`);
    await api.control("PATCH", "/state/api_keys/apikey_dan", { key: rotated });
    expect(await readStatuses()).toEqual([401, 401, 200]);
    const bundle = await api.bundle();
    for (const key of [created.key, KEYS.dan, rotated]) expect(JSON.stringify(bundle)).not.toContain(key);
    expect(await replayBundle(bundle)).toEqual({ requests: 6, control_calls: 3 });
  });

  it("does not repeat the deletion of a snapshot that a replay does not have [interfaces 4]", async () => {
    const api = await start();
    await api.control("POST", "/snapshots", { name: "old" });
    await api.control("POST", "/reset");
    await api.control("DELETE", "/snapshots/old");
    await api.control("POST", "/snapshots", { name: "old" });
    await api.control("DELETE", "/snapshots/old");
    expect(await replayBundle(await api.bundle())).toEqual({ requests: 0, control_calls: 2 });
  });

  it("is refused with 409 if the journal has lost entries or was cleared [interfaces 4]", async () => {
    const api = await start({ settings: { journal_limit: 2 } });
    for (let i = 0; i < 3; i++) await api.call("dan", "GET", "/v1/models");
    const lost = await api.control("POST", "/bundle");
    expect(lost.status).toBe(409);
    expect(lost.body.detail).toContain("lost 1 of the requests");
    expect(lost.body.advice).toContain("raise the setting journal_limit");
    await api.control("POST", "/reset");
    await api.call("dan", "GET", "/v1/models");
    await api.bundle();
    await api.control("DELETE", "/journal");
    const cleared = await api.control("POST", "/bundle");
    expect([cleared.status, cleared.body.detail]).toEqual([
      409,
      "The journal was cleared since the sandbox was created or reset; reset the sandbox and repeat the requests.",
    ]);
  });

  it("is refused with 409 for a fork, an old snapshot, and an upload that the journal lacks [interfaces 4]", async () => {
    const api = await start();
    await api.call("dan", "DELETE", "/v1/threads/thread_long");
    await api.control("POST", "/snapshots", { name: "old" });
    await api.control("POST", "/fork", { name: "copy" });
    const fork = await api.call(undefined, "POST", "/_control/sandboxes/copy/bundle");
    expect([fork.status, fork.body.detail]).toEqual([
      409,
      expect.stringContaining("copy of another sandbox"),
    ]);
    await api.control("POST", "/reset");
    await api.control("POST", "/snapshots/old/restore");
    expect((await api.control("POST", "/bundle")).body.detail).toContain("snapshot old");
    await api.control("POST", "/reset");
    const { body: document } = await api.control("GET", "/snapshots/old");
    await api.control("PUT", "/snapshots/foreign", document);
    await api.bundle();
    await api.control("POST", "/snapshots/foreign/restore");
    expect((await api.control("POST", "/bundle")).body.detail).toContain("snapshot foreign");
    await api.control("POST", "/reset");
    await api.control("POST", "/snapshots", { name: "replaced" });
    await api.control("PUT", "/snapshots/replaced", document);
    await api.control("POST", "/snapshots/replaced/restore");
    expect((await api.control("POST", "/bundle")).body.detail).toContain("snapshot replaced");
    await api.control("POST", "/reset");
    const form = new FormData();
    form.set("file", new File(["x".repeat(100_000)], "big.txt", { type: "text/plain" }));
    const options = { method: "POST", body: form, headers: { "api-key": KEYS.ada } };
    expect((await fetch(`${api.url}/v1/organizations/org_acme/files/upload`, options)).status).toBe(201);
    expect((await api.control("POST", "/bundle")).body.detail).toContain("no copy");
  });

  it("can be made of a named sandbox after resets, with simultaneous requests [interfaces 4]", async () => {
    const api = await start();
    const made = {
      name: "ci-42",
      seed: 3,
      clock: { mode: "frozen", now: "2026-01-02T03:04:05Z" },
      scenarios: ["flaky-ten-percent"],
    };
    await api.call(undefined, "POST", "/_control/sandboxes", made);
    const control = (path: string, body?: unknown) =>
      api.call(undefined, "POST", `/_control/sandboxes/ci-42${path}`, body);
    await control("/reset", { seed: 4 });
    await control("/reset");
    const about = { filename: "a.txt", file_size: 1, mime_type: "text/plain" };
    await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        i % 3 === 0
          ? api.call("ada", "POST", "/_s/ci-42/v1/organizations/org_acme/files/upload-url", about)
          : api.call("dan", "GET", "/v1/models", undefined, { "X-Sandbox": "ci-42" }),
      ),
    );
    const { body, status } = await control("/bundle");
    expect([status, body.resets, body.seed]).toEqual([200, 2, 4]);
    expect(await replayBundle(body)).toEqual({ requests: 30, control_calls: 0 });
  });
});

it("a bundle of requests to a sandbox's own port and its name replays, handed-out URLs too [interfaces 16]", async () => {
  const api = await start();
  const S = "/_control/sandboxes/mine";
  const made = await api.call(undefined, "POST", "/_control/sandboxes", { name: "mine", origin: true });
  const about = { filename: "a.txt", file_size: 1, mime_type: "text/plain" };
  const announce = (base: string, headers: Record<string, string> = {}) =>
    fetch(new URL("/v1/organizations/org_acme/files/upload-url", base), {
      method: "POST",
      body: JSON.stringify(about),
      headers: { "api-key": KEYS.ada, "content-type": "application/json", ...headers },
    });
  const { upload_url } = (await (await announce(made.body.origin)).json()) as { upload_url: string };
  expect((await fetch(upload_url, { method: "PUT", body: "a" })).status).toBe(200);
  await announce(api.url, { "x-sandbox": "mine" });
  // The header of a client has no effect.
  const answer = await announce(api.url, {
    "x-sandbox": "mine",
    "x-sandbox-base": "http://other.example.test",
  });
  expect(await answer.json()).toMatchObject({ upload_url: expect.stringContaining(`${api.url}/`) });
  const { body } = await api.call(undefined, "POST", `${S}/bundle`);
  expect(await replayBundle(body)).toEqual({ requests: 4, control_calls: 0 });
});

/** A receiver outside the server, whose requests get these answers in turn, and then hang. */
async function openReceiver(answers: (number | "hang")[]) {
  const receiver = createServer((_request, response) => {
    const answer = answers.shift() ?? "hang";
    if (answer !== "hang") response.writeHead(answer).end();
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => receiver.once("listening", resolve));
  const { port } = receiver.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, close: () => receiver.close() };
}

describe("a replay", () => {
  it("of a rewound sandbox gives the same bytes, with the rewind as a step [interfaces 4]", async () => {
    const api = await start({ clock: { mode: "frozen", now: Date.parse(EPOCH) } });
    const control = (path: string, body?: unknown) => api.control("POST", path, body);
    const fetchNewest = async (kind: string) => {
      const path = `/_control/sandboxes/default/history?kind=${kind}&limit=1`;
      return (await api.call(undefined, "GET", path)).body.entries[0].id as string;
    };
    await api.call("ada", "GET", "/v1/threads");
    await control("/clock/advance", { by: "1m" });
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    await control("/clock/advance", { by: "1h" });
    await api.call("ada", "POST", "/v1/threads", { title: "after an hour" });
    expect((await control(`/history/${await fetchNewest("request")}/rewind`)).status).toBe(200);
    await api.call("ada", "POST", "/v1/threads", { title: "another" });
    expect((await control(`/history/h_2/rewind`, { to: "before" })).status).toBe(200);
    await api.call("ada", "GET", "/v1/threads");
    const bundle = JSON.parse(JSON.stringify(await api.bundle())) as Bundle;
    expect(
      bundle.steps.filter((one) => "control" in one && one.control.operation === "history.rewind"),
    ).toHaveLength(2);
    expect(await replayBundle(bundle)).toEqual({ requests: 5, control_calls: 4 });
  });

  it("shows the time of a rewind also after a call that changes no record [interfaces 4]", async () => {
    const { call, control, bundle } = await start();
    await call("dan", "GET", "/v1/models");
    await control("POST", "/clock/advance", { by: "33s" });
    await control("PATCH", "/state/users/usr_dan", { name: "Daniel" });
    const { entries } = (await control("GET", "/history?kind=control")).body;
    expect((await control("POST", `/history/${entries.at(-1).id}/rewind`)).status).toBe(200);
    expect((await control("POST", "/snapshots", { name: "again" })).status).toBe(201);
    await call("dan", "GET", "/v1/models");
    const { body } = await call("dan", "GET", "/v1/nowhere");
    expect(JSON.stringify(body)).toContain(EPOCH);
    expect(await replayBundle(await bundle())).toEqual({ requests: 3, control_calls: 4 });
  });

  it("goes back to what the clock alone has run [interfaces 4]", async () => {
    const { call, control, bundle } = await start({ clock: { mode: "scaled", rate: 100_000 } });
    await expect
      .poll(async () => (await control("GET", "/history?kind=timer")).body.total)
      .toBeGreaterThan(0);
    const { entries } = (await control("GET", "/history?kind=timer")).body;
    expect((await control("POST", `/history/${entries.at(-1).id}/rewind`)).status).toBe(200);
    await call("dan", "GET", "/v1/nowhere");
    expect(await replayBundle(await bundle())).toEqual({ requests: 1, control_calls: 1 });
  });

  it("numbers the history as before although an advance has evicted its own entry [interfaces 4]", async () => {
    const { call, control, bundle } = await start({ settings: { live_meetings: "on", history_limit: 5 } });
    const { body: advanced } = await control("POST", "/clock/advance", { by: "1h" });
    expect(advanced.ran.length).toBeGreaterThan(5);
    await control("PATCH", "/state/users/usr_dan", { name: "Daniel" });
    const { entries } = (await control("GET", "/history?kind=control")).body;
    expect((await control("POST", `/history/${entries[0].id}/rewind`)).status).toBe(200);
    await call("dan", "GET", "/v1/models");
    expect(await replayBundle(await bundle())).toEqual({ requests: 1, control_calls: 3 });
  });

  it.each([
    ["frozen", { mode: "frozen", now: Date.parse(EPOCH) }],
    ["real", { mode: "real" }],
    ["scaled", { mode: "scaled", rate: 3600 }],
  ] as const)("gives every byte again, with the clock %s [interfaces 2]", async (_name, clock) => {
    const api = await start({ clock });
    await makeCalls(api);
    const bundle = JSON.parse(JSON.stringify(await api.bundle())) as Bundle;
    const result = await replayBundle(bundle);
    expect(result).toEqual({ requests: listRequests(bundle).length, control_calls: expect.any(Number) });
    expect(result.requests).toBeGreaterThan(30);
  });

  it("has the part of an advance that ran before it was stopped [interfaces 4]", async () => {
    const { call, control, bundle } = await start();
    const { body: receiver } = await control("POST", "/receivers", {
      answers: [500, { status: 500, delay: "300ms" }],
    });
    await call("ada", "POST", "/webhooks", { url: receiver.url, events: ["user.updated"] });
    await control("PATCH", "/state/users/usr_dan", { name: "Daniel" });
    const advance = control("POST", "/clock/advance", { by: "30d" });
    await expect.poll(async () => (await control("GET", "/clock")).body.now).not.toBe(EPOCH);
    expect((await control("DELETE", "/clock/advance")).status).toBe(204);
    const { now } = (await advance).body;
    expect(now.slice(0, 10)).toBe(EPOCH.slice(0, 10));
    await call("ada", "GET", "/v1/models");
    const advances = (await bundle()).steps.flatMap((step) =>
      "control" in step && step.control.path.startsWith("/clock") ? [step.control] : [],
    );
    expect(advances).toMatchObject([
      { operation: "clock.advance", body: JSON.stringify({ to: now }), now, history: true },
    ]);
    expect((await control("GET", "/history?kind=control")).body.entries[0].title).toBe(
      `The clock was advanced by 30d, but stopped at ${now}.`,
    );
    expect(await replayBundle(await bundle())).not.toHaveProperty("difference");
  });

  it("repeats what ran by the clock alone [interfaces 2, G17, G34, G36]", async () => {
    const api = await start({ settings: { live_meetings: "on", invoicing: "on" } });
    const { control, call } = api;
    const { body: receiver } = await control("POST", "/receivers", {});
    const invoices = { url: receiver.url, events: ["invoice.created", "invoice.paid", "invoice.failed"] };
    const { body: made } = await call("ada", "POST", "/webhooks", invoices);
    for (const rate of [0, 1]) {
      const connection = { id: `conn_rate${rate}`, organization_id: "org_acme", failure_rate: rate };
      expect((await control("POST", "/state/connections", connection)).status).toBe(201);
      const job = { connection_id: connection.id, job_type: "sync" };
      expect(
        (await call("dan", "POST", "/v1/organizations/org_acme/knowledge/connectors/jobs", job)).status,
      ).toBe(201);
    }
    const kinds = new Set<string>();
    const seen: string[] = [];
    for (const by of ["70s", "2h", "17d", "4d"]) {
      const { body } = await control("POST", "/clock/advance", { by });
      for (const { kind } of body.ran) kinds.add(kind);
      for (const path of [
        "/v1/organizations/org_acme/knowledge/connectors/jobs",
        "/v1/audio/transcribe/trans_pending/sentences",
        "/v1/meeting-buddy/sessions/mbsess_live/transcripts/export?format=txt",
        `/webhooks/${made.data.webhook_id}/deliveries`,
      ])
        seen.push((await call("ada", "GET", path)).text);
    }
    expect([...kinds].sort()).toEqual(
      expect.arrayContaining(["connector.job", "invoice", "meeting.line", "transcription.step"]),
    );
    const [jobs, sentences, transcript, deliveries] = seen.slice(-4);
    expect(jobs).toMatch(/"status":"failed"/);
    expect(sentences).toMatch(/"text":/);
    expect(transcript).not.toBe(seen[2]);
    expect(deliveries).toMatch(/"event":"invoice.paid"/);
    const result = await replayBundle(JSON.parse(JSON.stringify(await api.bundle())) as Bundle);
    expect(result).toEqual({ requests: 3 + seen.length, control_calls: expect.any(Number) });
  });

  it("works for a sandbox that began with a leased scenario, after a reset too [interfaces 4]", async () => {
    const scenariosFolder = createTempFolder();
    const leased =
      "rules:\n  - match: {operation: models.list}\n    effect: {status: 503}\n    lease: {ttl: 2m}\n";
    writeFileSync(join(scenariosFolder, "short-outage.yaml"), leased);
    const api = await start({ scenariosFolder, scenarios: ["short-outage"] });
    for (const round of ["as created", "after a reset"]) {
      expect((await api.call("dan", "GET", "/v1/models")).status, round).toBe(503);
      await api.control("POST", "/clock/advance", { by: "3m" });
      expect((await api.call("dan", "GET", "/v1/models")).status, round).toBe(200);
      expect(await replayBundle(await api.bundle()), round).toEqual({ requests: 2, control_calls: 1 });
      await api.control("POST", "/reset");
    }
  });

  it("leaves out calls that a scenario's broken file refused, and refuses a bundle with such a file [interfaces 4]", async () => {
    const scenariosFolder = createTempFolder();
    const [broken, outage] = ["broken", "outage"].map((name) => join(scenariosFolder, `${name}.yaml`));
    writeFileSync(broken!, "rules: [{match: {operation: nowhere}, effect: {status: 500}}]\n");
    writeFileSync(outage!, "rules: [{match: {operation: models.list}, effect: {status: 503}}]\n");
    const api = await start({ scenariosFolder });
    const askAs = (name: string) =>
      api.call("dan", "GET", "/v1/models", undefined, { "x-sandbox-fault": name });
    expect((await askAs("broken")).status).toBe(400);
    expect((await askAs("RESOURCE_NOT_FOUND")).status).toBe(400);
    expect((await api.control("PUT", "/scenarios/active", { names: ["broken"] })).status).toBe(422);
    expect((await askAs("outage")).status).toBe(503);
    const bundle = await api.bundle();
    expect(bundle.scenarios.map(({ name }) => name)).toEqual(["outage"]);
    expect(await replayBundle(bundle)).toEqual({ requests: 2, control_calls: 0 });
    writeFileSync(outage!, "rules: [{match: {operation: nowhere}, effect: {status: 503}}]\n");
    const { status, body } = await api.control("POST", "/bundle");
    expect([status, body.detail]).toEqual([
      409,
      "The file of the scenario outage can no longer be used; put it back as it was.",
    ]);
  });

  it("leaves no files behind if this version refuses the fixture", async () => {
    const bundle = await (await start()).bundle();
    const fixture = { ...bundle.fixture, document: { planets: [] } };
    const folder = createTempFolder();
    vi.stubEnv("TMPDIR", folder);
    try {
      await expect(replayBundle({ ...bundle, fixture })).rejects.toThrow("planets");
    } finally {
      vi.unstubAllEnvs();
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  it("calls no receiver, and uses the recorded answers [interfaces 2]", async () => {
    let calls = 0;
    const receiver = createServer((_request, response) => {
      response.writeHead(calls++ === 0 ? 503 : 204).end();
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => receiver.once("listening", resolve));
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    const api = await start();
    const { body } = await api.call("ada", "POST", "/webhooks", { url, events: ["user.updated"] });
    await api.control("POST", "/events", { event: "user.updated", for: "usr_dan", organization: "org_acme" });
    await api.control("POST", "/clock/advance", { next: true });
    await api.control("POST", "/clock/advance", { by: "5m" });
    const { webhook_id } = body.data ?? body;
    const { body: listed } = await api.call("ada", "GET", `/webhooks/${webhook_id}/deliveries`);
    expect(listed.data[0]).toMatchObject({ status: "success", attempts: 2, response_code: 204 });
    const before = calls;
    const bundle = await api.bundle();
    expect(await replayBundle(bundle)).toEqual({ requests: 2, control_calls: 3 });
    expect(calls).toBe(before);
    receiver.close();
  });

  it.each([
    ["the webhook was deleted", (api: Started, id: string) => api.call("ada", "DELETE", `/webhooks/${id}`)],
    ["a snapshot from before came back", (api: Started) => api.control("POST", "/snapshots/before/restore")],
  ])("uses the recorded answers of receivers although %s [interfaces 2]", async (_why, forget) => {
    const api = await start();
    await api.control("POST", "/snapshots", { name: "before" });
    const { body: receiver } = await api.control("POST", "/receivers", { answers: [500, 200] });
    const hook = { url: receiver.url, events: ["user.updated"] };
    const { body: made } = await api.call("ada", "POST", "/webhooks", hook);
    const { webhook_id } = made.data;
    const { body: tested } = await api.call("ada", "POST", `/webhooks/${webhook_id}/test`);
    expect(tested.data).toMatchObject({ status: "failed", response_code: 500 });
    await api.control("POST", "/clock/advance", { by: "2m" });
    const { body: listed } = await api.call("ada", "GET", `/webhooks/${webhook_id}/deliveries`);
    expect(listed.data[0]).toMatchObject({ status: "success", attempts: 2 });
    await forget(api, webhook_id);
    const result = await replayBundle(await api.bundle());
    expect(result.difference).toBeUndefined();
  });

  it("ends a retry that the clock alone began at its recorded instant, not when it was due [interfaces 2]", async () => {
    const api = await start({ clock: { mode: "frozen", now: Date.parse(EPOCH) } });
    const { body: receiver } = await api.control("POST", "/receivers", { answers: [500, 200] });
    const hook = { url: receiver.url, events: ["user.updated"] };
    const { body: made } = await api.call("ada", "POST", "/webhooks", hook);
    await api.control("POST", "/events", { event: "user.updated", for: "usr_dan", organization: "org_acme" });
    await api.control("POST", "/clock/advance", { by: "2m" });
    await api.call("ada", "GET", `/webhooks/${made.data.webhook_id}/deliveries`);
    const bundle = await api.bundle();
    const retry = Object.values(bundle.deliveries)[0]![1]!;
    const { answer } = listRequests(bundle).at(-1)!;
    const list = (answer.body as { text: string }).text;
    expect(list).toContain(`"delivered_at":"${retry.ended_at}"`);
    // As if the clock had run, and the receiver had taken half a minute.
    const end = new Date(Date.parse(retry.ended_at!) + 30_000).toISOString();
    answer.body = { text: list.replace(retry.ended_at!, end) };
    retry.ended_at = end;
    expect(await replayBundle(bundle)).toEqual({ requests: 2, control_calls: 3 });
  });

  it("ends a delivery at its recorded instant although another request came before its end [interfaces 2]", async () => {
    let answer = (): void => undefined;
    const receiver = createServer((_request, response) => {
      answer = () => void response.writeHead(204).end();
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => receiver.once("listening", resolve));
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    const api = await start({ clock: { mode: "scaled", now: Date.parse(EPOCH), rate: 1000 } });
    const { body: made } = await api.call("ada", "POST", "/webhooks", { url, events: ["thread.deleted"] });
    const called = new Promise((resolve) => receiver.once("request", resolve));
    await api.call("dan", "DELETE", "/v1/threads/thread_long");
    await called;
    const listDeliveries = () => api.call("ada", "GET", `/webhooks/${made.data.webhook_id}/deliveries`);
    await listDeliveries();
    // The scaled clock advances at least a second, so that the end and the request differ in time.
    await new Promise((resolve) => setTimeout(resolve, 5));
    answer();
    await waitUntilPasses(async () => expect((await listDeliveries()).body.data[0]?.status).toBe("success"));
    const bundle = await api.bundle();
    const attempt = Object.values(bundle.deliveries)[0]![0]!;
    expect(Date.parse(attempt.ended_at!)).toBeGreaterThanOrEqual(
      Date.parse(listRequests(bundle)[2]!.request.at),
    );
    expect((await replayBundle(bundle)).difference).toBeUndefined();
    const cut = { ...bundle, steps: bundle.steps.slice(0, 3) };
    expect(await replayBundle(cut)).toEqual({ requests: 3, control_calls: 0 });
    receiver.close();
  });

  it("does not end an attempt that had no answer when the bundle was made [interfaces 2]", async () => {
    const { call, control, bundle } = await start();
    const { body: receiver } = await control("POST", "/receivers", { answers: ["hang"] });
    const hook = { url: receiver.url, events: ["thread.deleted"] };
    const { webhook_id } = (await call("ada", "POST", "/webhooks", hook)).body.data;
    await call("ada", "DELETE", "/v1/threads/thread_ada");
    await control("PATCH", "/state/users/usr_dan", { name: "Daniel" });
    const listed = await call("ada", "GET", `/webhooks/${webhook_id}/deliveries`);
    expect(listed.body.data).toEqual([]);
    expect(await replayBundle(await bundle())).toEqual({ requests: 3, control_calls: 2 });
  });

  it.each(["before", "after"])(
    "does not end an attempt that a rewind to %s its request has cancelled [interfaces 2]",
    async (to) => {
      const { call, control, bundle } = await start();
      const receiver = await openReceiver(["hang", 500]);
      const hook = { url: receiver.url, events: ["thread.deleted"] };
      const { webhook_id } = (await call("ada", "POST", "/webhooks", hook)).body.data;
      await call("ada", "DELETE", "/v1/threads/thread_ada");
      await control("PATCH", "/state/users/usr_dan", { name: "Daniel" });
      const { entries } = (await control("GET", "/history?kind=request")).body;
      expect((await control("POST", `/history/${entries[0].id}/rewind`, { to })).status).toBe(200);
      await call("ada", "DELETE", "/v1/threads/thread_ada");
      const listAttempts = () => control("GET", "/history?kind=delivery");
      await expect.poll(async () => (await listAttempts()).body.total).toBeGreaterThan(0);
      await call("ada", "GET", `/webhooks/${webhook_id}/deliveries`);
      const { id } = (await control("GET", "/history")).body.entries.at(-2);
      expect((await control("POST", `/history/${id}/rewind`)).status).toBe(200);
      await call("ada", "GET", `/webhooks/${webhook_id}/deliveries`);
      expect(await replayBundle(await bundle())).toEqual({ requests: 5, control_calls: 3 });
      receiver.close();
    },
  );

  it("does not end an attempt that a rewind has begun again, and that had no answer [interfaces 2]", async () => {
    const { call, control, bundle } = await start();
    const receiver = await openReceiver([500, "hang"]);
    const hook = { url: receiver.url, events: ["thread.deleted"] };
    const { webhook_id } = (await call("ada", "POST", "/webhooks", hook)).body.data;
    await call("ada", "DELETE", "/v1/threads/thread_ada");
    const listAttempts = () => control("GET", "/history?kind=delivery");
    await expect.poll(async () => (await listAttempts()).body.total).toBe(1);
    const { entries } = (await control("GET", "/history?kind=request")).body;
    expect((await control("POST", `/history/${entries[0].id}/rewind`, { to: "after" })).status).toBe(200);
    const listed = await call("ada", "GET", `/webhooks/${webhook_id}/deliveries`);
    expect(listed.body.data).toEqual([]);
    expect(await replayBundle(await bundle())).toEqual({ requests: 3, control_calls: 1 });
    receiver.close();
  });

  it("uses the recorded result of each delivery, and asks no rules about deliveries [interfaces 6]", async () => {
    const api = await start();
    await api.control("POST", "/faults", { match: { event: "webhook.test" }, sequence: [503, "pass"] });
    const { body: receiver } = await api.control("POST", "/receivers", { answers: [404, 200] });
    const hook = { url: receiver.url, events: ["user.updated"] };
    const { body: made } = await api.call("ada", "POST", "/webhooks", hook);
    const { webhook_id } = made.data;
    await api.call("ada", "POST", `/webhooks/${webhook_id}/test`);
    await api.control("POST", "/clock/advance", { by: "7m" });
    const { body: listed } = await api.call("ada", "GET", `/webhooks/${webhook_id}/deliveries`);
    expect(listed.data[0]).toMatchObject({ status: "success", attempts: 3, response_code: 200 });
    expect((await replayBundle(await api.bundle())).difference).toBeUndefined();
  });

  it("repeats requests of HTTP/1.0 without a Host [interfaces 2]", async () => {
    const api = await start();
    const { port } = new URL(api.url);
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), "127.0.0.1", () =>
        socket.write("GET /v1/models HTTP/1.0\r\n\r\n"),
      );
      socket.resume().once("close", () => resolve());
    });
    expect(await replayBundle(await api.bundle())).toEqual({ requests: 1, control_calls: 0 });
  });

  it("reports a request that no sandbox answers, instead of waiting for it [interfaces 2]", async () => {
    const api = await start();
    await api.call("dan", "GET", "/v1/models");
    const bundle = await api.bundle();
    listRequests(bundle)[0]!.request.target = "/_s/nobody/v1/models";
    const { difference } = await replayBundle(bundle);
    expect(difference).toMatchObject({ request: 1, what: "answer", replayed: "no answer" });
  });

  it("shows the first difference and exits 1 [interfaces 2]", async () => {
    const api = await start();
    await api.call("dan", "GET", "/v1/models");
    await api.call("ada", "GET", "/v1/analytics/usage/limits/org_acme");
    const bundle = await api.bundle();
    const [, second] = listRequests(bundle);
    const body = second!.answer.body as { text: string };
    const at = body.text.indexOf('"monthly_limit":1000');
    body.text = body.text.replace('"monthly_limit":1000', '"monthly_limit":1001');
    const file = join(createTempFolder(), "changed.json");
    writeFileSync(file, JSON.stringify(bundle));
    const replayed = await runCommand(["replay", file]);
    expect(replayed.code).toBe(1);
    expect(replayed.stdout).toContain("request 2, GET /v1/analytics/usage/limits/org_acme");
    expect(replayed.stdout).toContain(`body at byte ${at + '"monthly_limit":100'.length}`);
    const { stdout } = await runCommand(["replay", file, "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, requests: 2, difference: { request: 2 } });
    listRequests(bundle)[0]!.answer.headers[0]![1] = "2020-01-01";
    expect((await replayBundle(bundle)).difference).toMatchObject({
      request: 1,
      what: "header service-api-version",
    });
    listRequests(bundle)[0]!.answer.status = 201;
    expect((await replayBundle(bundle)).difference).toMatchObject({
      what: "status",
      recorded: "201",
      replayed: "200",
    });
  });

  it("repeats holds and releases, and refuses another order or answer [interfaces 20]", async () => {
    const api = await start();
    await api.control("POST", "/faults", {
      match: { operation: "models.list" },
      effect: { hold: { timeout: "1h" } },
    });
    const { held } = api.understudy.sandboxes.get("default")!;
    const hold = () => api.call("dan", "GET", "/v1/models");
    const waitUntilHeld = () => waitUntil(() => held.list().length > 0);
    const release = async (body: object = {}) => {
      await waitUntilHeld();
      return api.control("POST", `/held/${held.list()[0]!.id}/release`, body);
    };
    await Promise.all([hold(), release()]);
    const bundle = await api.bundle();
    expect(await replayBundle(bundle)).toEqual({ requests: 1, control_calls: 1 });
    await Promise.all([hold(), release({ answer: { status: 503 } })]);
    expect((await api.control("POST", "/bundle")).body.detail).toContain("released with another answer");
    await api.control("POST", "/reset");
    await api.control("POST", "/faults", { match: { operation: "models.list" }, effect: { hold: {} } });
    const asked = hold();
    await waitUntilHeld();
    await api.call("dan", "DELETE", "/v1/threads/thread_long");
    await Promise.all([asked, release()]);
    expect((await api.control("POST", "/bundle")).body.detail).toContain("while a request was held");
    const late = hold();
    await waitUntilHeld();
    await api.control("POST", "/reset");
    expect((await late).status).toBe(503);
    expect((await api.control("POST", "/bundle")).body.detail).toContain("held during the reset");
  });

  it("exits 0 with a summary if nothing differs [interfaces 2]", async () => {
    const api = await start();
    await api.call("dan", "GET", "/v1/models");
    const file = join(createTempFolder(), "same.json");
    writeFileSync(file, JSON.stringify(await api.bundle()));
    const listening = process.listenerCount("SIGINT");
    const { code, stdout, stderr } = await runCommand(["replay", file]);
    expect([code, stdout, stderr]).toEqual([0, expect.stringContaining("1 request "), ""]);
    // More than ten listeners would make Node warn of a leak.
    expect(process.listenerCount("SIGINT")).toBe(listening);
  });

  it.each([
    ["{", "not JSON"],
    ["[]", "not a bundle"],
    ['{"format":"understudy-bundle","version":99}', "newer Understudy"],
    ['{"format":"understudy-bundle","version":1}', "damaged"],
  ])("refuses %s [interfaces 2]", async (text, message) => {
    expect(() => readBundle(text, "x.json")).toThrow(message);
    const file = join(createTempFolder(), "x.json");
    writeFileSync(file, text);
    const { code, stderr } = await runCommand(["replay", file]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
