import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { createUnderstudy, type LocalUnderstudy } from "../../src/client/create-understudy.ts";
import { createLocal } from "../../src/client/local-understudy.ts";
import { defineOperation } from "../../src/client/operations.ts";
import type { SandboxClient } from "../../src/client/sandbox.ts";
import { type Api, KEYS, startReference } from "../support/harness.ts";
import { createTempFolder, removeTempFolders } from "../support/run-understudy.ts";
import { announce, chunk } from "../support/upload-setup.ts";

const closing: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of closing.splice(0)) await one.close();
});

afterAll(removeTempFolders);

async function start(): Promise<{ api: Api; sandbox: SandboxClient }> {
  const api = await startReference();
  closing.push(api);
  return { api, sandbox: await connect(api.url).open("default") };
}

/** Starts another engine, as in another process. */
async function startElsewhere(): Promise<LocalUnderstudy> {
  const engine = await createLocal({});
  closing.push(engine);
  return engine;
}

/** Makes requests of every kind, a refusal, a fault, failed deliveries with retries, clock calls and a rewind. */
async function makeRequests({ sandbox }: { sandbox: SandboxClient }): Promise<void> {
  const as = (who: keyof typeof KEYS, method = "GET", body?: object) => ({
    method,
    headers: { "api-key": KEYS[who], "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const receiver = await sandbox.receivers.add({ answers: [500, 200] });
  await sandbox.fetch("/webhooks", as("ada", "POST", { url: receiver.url, events: ["thread.deleted"] }));
  await sandbox.faults.add({ match: { operation: "models.list" }, times: 3, effect: { status: 503 } });
  await sandbox.scenarios.activate("slow-network");
  await sandbox.scenarios.activate();
  await sandbox.fetch("/v1/models", as("dan"));
  await sandbox.fetch("/v1/threads/thread_welcome", as("dan", "DELETE"));
  await sandbox.fetch("/v1/threads/nowhere", as("dan", "DELETE"));
  await sandbox.fetch("/v1/auth/token", as("dan", "POST"));
  await sandbox.snapshots.save("before");
  await sandbox.clock.advance("10s");
  await sandbox.state("users").update("usr_dan", { name: "Daniel ⟦W⟧" } as never);
  const [entry] = (await sandbox.history.list()).entries;
  await sandbox.history.rewind(entry!.id);
}

/** Reads everything that the console shows of a sandbox. */
async function readAll(sandbox: SandboxClient) {
  const { entries: history } = await sandbox.history.list();
  const { entries: journal } = await sandbox.journal.list();
  const details = [];
  for (const { id } of history)
    details.push(await sandbox.history.get(id), await sandbox.history.changes(id));
  const { counts, settings, fixture, seed, clock } = await sandbox.info();
  const whole = {
    ...{ history, journal, details, counts, settings, fixture, seed, now: clock.now },
    pending: await sandbox.clock.pending(),
    faults: (await sandbox.faults.list()).items,
    threads: (await sandbox.state("threads").list()).items,
    snapshots: (await sandbox.snapshots.list()).items,
  };
  // Each file has its own secrets.
  return JSON.parse(JSON.stringify(whole).replaceAll(/whsec_[\w-]+/g, "whsec_"));
}

describe("a sandbox as a file", () => {
  it("opens elsewhere with its world, timeline, journal, settings and rules, and gives the same answers [interfaces 19]", async () => {
    const given = await start();
    await makeRequests(given);
    await given.sandbox.configure({ journal_limit: 500 });
    const seen = await readAll(given.sandbox);
    const file = await given.sandbox.export();
    const opened = await (await startElsewhere()).openFile(file, "opened");
    expect(opened.name).toBe("opened");
    expect(await readAll(opened)).toEqual(seen);
  });

  it("rewinds, forks, repeats and advances as in its first server [interfaces 19]", async () => {
    const given = await start();
    await makeRequests(given);
    const engine = await startElsewhere();
    const opened = await engine.openFile(await given.sandbox.export(), "opened");
    const deletion = (await opened.history.list()).entries.find(
      ({ subject }) => subject === "thread_welcome",
    )!;
    const hasThread = (sandbox: SandboxClient) =>
      sandbox
        .state("threads")
        .get("thread_welcome")
        .then(
          () => true,
          () => false,
        );
    expect(await hasThread(opened)).toBe(false);
    const { ran } = await opened.clock.advance("1h");
    expect(ran.map(({ kind }) => kind)).toContain("webhook.retry");
    await opened.history.rewind(deletion.id);
    expect(await hasThread(opened)).toBe(true);
    const fork = await opened.history.fork(deletion.id, { name: "later", to: "after" });
    expect(await hasThread(fork)).toBe(false);
    const repeated = await opened.history.repeat(deletion.id);
    expect(repeated.same, JSON.stringify(repeated)).toBe(true);
    await opened.snapshots.restore("before");
    expect(await hasThread(opened)).toBe(false);
    for (const { id } of (await given.sandbox.history.list()).entries) {
      const there = await given.sandbox.history.rewind(id);
      const here = await opened.history.rewind(id);
      expect([here.counts, here.clock.now], id).toEqual([there.counts, there.clock.now]);
    }
  });

  it("contains no secret of its sandbox, and its keys still work after opening [interfaces 19]", async () => {
    const given = await start();
    await makeRequests(given);
    const file = await given.sandbox.export();
    const text = gunzipSync(file).toString();
    const secrets = given.api.understudy.sandboxes.get("default")!.world;
    for (const secret of [...Object.values(KEYS), secrets.secretKey]) expect(text).not.toContain(secret);
    expect(text).not.toMatch(/whsec_[A-Za-z0-9]|eyJ[\w-]{8,}\./);
    const opened = await (await startElsewhere()).openFile(file, "opened");
    const key = opened.credentials.usr_dan;
    expect(key).toMatch(/^ak_\w{39}$/);
    expect(key).not.toBe(KEYS.dan);
    expect(
      (await opened.fetch("/v1/threads/thread_long", { method: "DELETE", headers: { "api-key": key } }))
        .status,
    ).toBe(200);
  });

  it("takes a free name, with its clock frozen at the export [interfaces 19]", async () => {
    const { sandbox } = await start();
    await sandbox.clock.set({ mode: "real" });
    const file = await sandbox.export();
    const engine = await startElsewhere();
    const [first, second] = [await engine.openFile(file), await engine.openFile(file)];
    expect([first.name, second.name]).toEqual(["default-2", "default-3"]);
    const { clock } = await first.info();
    expect(clock.mode).toBe("frozen");
    await expect(engine.openFile(file, "default-2")).rejects.toThrow(
      'There is a sandbox "default-2" already',
    );
    await expect(engine.openFile(file, "Not a name")).rejects.toThrow("name must be 1 to 63");
  });

  it("has journal and history of one instant, also if a request comes while its uploads are read [interfaces 19]", async () => {
    const { api, sandbox } = await start();
    const { upload_url } = await announce(api, { file_size: 10 });
    await chunk(upload_url, "0123", 0, 10);
    const { blobs } = api.understudy.sandboxes;
    const encode = blobs.encode.bind(blobs);
    blobs.encode = async (captured) => {
      expect((await api.call("dan", "DELETE", "/v1/threads/thread_welcome")).status).toBe(200);
      return encode(captured);
    };
    const opened = await (await startElsewhere()).openFile(await sandbox.export());
    const { entries } = await opened.journal.list();
    const changes = new Set((await opened.history.list()).entries.map(({ id }) => id));
    expect(entries.flatMap(({ history }) => history ?? []).filter((id) => !changes.has(id))).toEqual([]);
    expect(entries.map(({ operation }) => operation)).not.toContain("threads.delete");
  });

  it("replaces no sandbox that another call creates while the file is read [interfaces 19]", async () => {
    const { api, sandbox } = await start();
    const file = Buffer.from(await sandbox.export()).toString("base64");
    const open = (name?: string) =>
      api.call(undefined, "POST", "/_control/open", { file, ...(name && { name }) });
    const named = await Promise.all([open("twice"), open("twice")]);
    expect(named.map(({ status }) => status).sort()).toEqual([201, 409]);
    const unnamed = await Promise.all([open(), open()]);
    expect(unnamed.map(({ body }) => body.name).sort()).toEqual(["default-2", "default-3"]);
    const broken = Buffer.from(
      gzipSync(gunzipSync(Buffer.from(file, "base64")).toString().replace('"windows"', '"w"')),
    );
    const [failed, made] = await Promise.all([
      api.call(undefined, "POST", "/_control/open", { file: broken.toString("base64"), name: "mine" }),
      api.call(undefined, "POST", "/_control/sandboxes", { name: "mine" }),
    ]);
    expect([[409, 422].includes(failed.status), made.status]).toEqual([true, 201]);
    expect((await api.call(undefined, "GET", "/_control/sandboxes/mine")).status).toBe(200);
  });

  it("has the scenario of the newest file of that name, once no sandbox uses the earlier one [interfaces 19]", async () => {
    const given = await start();
    const value = JSON.parse(gunzipSync(await given.sandbox.export()).toString());
    const scenario = { name: "ours", document: { description: "first", rules: [] } };
    value.content.scenarios.push(scenario);
    value.content.saved.faults.active.push("ours");
    const engine = await startElsewhere();
    const readDescription = async () => {
      const opened = await engine.openFile(new Uint8Array(gzipSync(JSON.stringify(value))));
      const { items } = await opened.scenarios.list();
      await opened.delete();
      return items.find(({ name }) => name === "ours")!.description;
    };
    expect(await readDescription()).toBe("first");
    scenario.document.description = "second";
    expect(await readDescription()).toBe("second");
  });

  it("keeps its active scenario over a restart with --persist [interfaces 2, 19]", async () => {
    const given = await start();
    const value = JSON.parse(gunzipSync(await given.sandbox.export()).toString());
    const rules = [{ match: { operation: "models.list" }, effect: { status: 503 } }];
    value.content.scenarios.push({ name: "ours", document: { rules } });
    value.content.saved.faults.active.push("ours");
    const persist = { folder: createTempFolder(), durable: false };
    const first = await startReference({ persist });
    await connect(first.url).openFile(new Uint8Array(gzipSync(JSON.stringify(value))), "theirs");
    await first.close();
    const second = await startReference({ persist });
    closing.push(second);
    const opened = await connect(second.url).open("theirs");
    expect((await opened.info()).scenarios).toEqual(["ours"]);
    const headers = { "api-key": opened.credentials.usr_dan };
    expect((await opened.fetch("/v1/models", { headers })).status).toBe(503);
  });

  it("has the OpenAPI document of its sandbox, with the records of its collections [interfaces 19]", async () => {
    const { sandbox } = await start();
    const answers = { responses: { "200": { description: "They" } } };
    await sandbox.operations.replace({
      openapi: "3.1.0",
      info: { title: "Tags", version: "1" },
      paths: {
        "/v1/tags": { get: { operationId: "listTags", "x-understudy": { list: "tags" }, ...answers } },
      },
      components: {
        schemas: {
          Tag: { type: "object", properties: { id: { type: "string" }, name: { type: "string" } } },
        },
      },
      "x-understudy": { collections: { tags: { prefix: "tag_", schema: "#/components/schemas/Tag" } } },
    });
    await sandbox.state("tags" as "threads").create({ name: "red" } as never);
    const opened = await (await startElsewhere()).openFile(await sandbox.export(), "opened");
    const headers = { "api-key": opened.credentials.usr_dan };
    const listed = await opened.fetch("/v1/tags", { headers });
    expect([listed.status, await listed.text()]).toEqual([200, expect.stringContaining('"red"')]);
    const [entry] = (await opened.history.list()).entries;
    await opened.history.rewind(entry!.id);
    expect(await (await opened.fetch("/v1/tags", { headers })).text()).not.toContain('"red"');
  });

  it("keeps the active scenarios of own operations, of the sandbox's document and of the server's [interfaces 18, 19]", async () => {
    const folder = createTempFolder();
    const file = join(folder, "tag.yaml");
    writeFileSync(file, describeCollection("tag"));
    mkdirSync(join(folder, "scenarios"));
    const rules = "rules: [{ match: { operation: list-tag }, effect: { status: 503 } }]\n";
    writeFileSync(join(folder, "scenarios", "no-tags.yaml"), rules);
    const derived = "create-tag-invalid-input";
    const ofServer = await createUnderstudy({ openapi: [file], scenariosFolder: join(folder, "scenarios") });
    const ofSandbox = await createUnderstudy();
    closing.push(ofServer, ofSandbox);
    const first = await ofServer.sandbox();
    await first.scenarios.activate(derived as never, "no-tags" as never);
    const second = await ofSandbox.sandbox();
    await second.operations.replace(describeCollection("tag"));
    await second.scenarios.activate(derived as never);
    const persist = { folder: createTempFolder(), durable: false };
    const elsewhere = await startReference({ persist });
    const remote = await connect(elsewhere.url);
    await remote.openFile(await first.export(), "first");
    await remote.openFile(await second.export(), "second");
    await elsewhere.close();
    const restarted = await startReference({ persist });
    closing.push(restarted);
    const ask = async (name: string, method: string) => {
      const opened = await (await connect(restarted.url)).open(name);
      const headers = { "api-key": opened.credentials.usr_ada, "content-type": "application/json" };
      const body = method === "POST" ? JSON.stringify({ name: "red" }) : null;
      return (await opened.fetch("/v1/tags", { method, headers, body })).status;
    };
    expect([await ask("first", "POST"), await ask("first", "GET"), await ask("second", "POST")]).toEqual([
      422, 503, 422,
    ]);
  });

  it("has the OpenAPI file of its server, or a message what to do if there are more [interfaces 18, 19]", async () => {
    const folder = createTempFolder();
    const write = (noun: string) => {
      const file = join(folder, `${noun}.yaml`);
      writeFileSync(file, describeCollection(noun));
      return file;
    };
    const [tags, colours] = [write("tag"), write("colour")];
    const export_ = async (openapi: string[]) => {
      const server = await createUnderstudy({ openapi });
      closing.push(server);
      const sandbox = await server.sandbox({ name: "tagged" });
      const headers = { "api-key": sandbox.credentials.usr_ada, "content-type": "application/json" };
      const body = JSON.stringify({ name: "red" });
      expect((await sandbox.fetch("/v1/tags", { method: "POST", headers, body })).status).toBe(201);
      return sandbox.export();
    };
    const one = await export_([tags]);
    const opened = await (await startElsewhere()).openFile(one, "opened");
    const headers = { "api-key": opened.credentials.usr_ada };
    expect(await (await opened.fetch("/v1/tags", { headers })).text()).toContain('"red"');
    await opened.history.rewind((await opened.history.list()).entries[0]!.id);
    expect(await (await opened.fetch("/v1/tags", { headers })).text()).not.toContain('"red"');
    const two = await export_([tags, colours]);
    await expect((await startElsewhere()).openFile(two)).rejects.toThrow(
      /^The file needs the operations of \S+tag\.yaml \(SHA-256 \w{12}\) and \S+colour\.yaml \(SHA-256 \w{12}\); open it where these files are, with `understudy open FILE --openapi \S+tag\.yaml --openapi \S+colour\.yaml`\.$/,
    );
    // The same files have other paths in another project.
    mkdirSync(join(folder, "copy"));
    const copies = [tags, colours].map((file) => {
      const copy = join(folder, "copy", basename(file));
      copyFileSync(file, copy);
      return copy;
    });
    const other = await createUnderstudy({ openapi: copies });
    closing.push(other);
    const again = await other.openFile(two, "again");
    const answer = await again.fetch("/v1/tags", { headers: { "api-key": again.credentials.usr_ada } });
    expect(await answer.text()).toContain('"red"');
  });

  it("opens with its own OpenAPI document on a server that serves the same document [interfaces 18, 19]", async () => {
    const file = join(createTempFolder(), "tag.yaml");
    writeFileSync(file, describeCollection("tag"));
    const { sandbox } = await start();
    await sandbox.operations.replace(describeCollection("tag"));
    await sandbox.state("tags" as never).create({ name: "red" } as never);
    const server = await createUnderstudy({ openapi: [file] });
    closing.push(server);
    const opened = await server.openFile(await sandbox.export(), "again");
    const answer = await opened.fetch("/v1/tags", { headers: { "api-key": opened.credentials.usr_ada } });
    expect(await answer.text()).toContain('"red"');
  });

  it("is refused in one sentence if it is damaged, cut, foreign, newer or too large, and nothing is created [interfaces 19]", async () => {
    const { sandbox } = await start();
    const file = await sandbox.export();
    const engine = await startElsewhere();
    const flipped = file.slice();
    flipped[flipped.length >> 1]! ^= 0xff;
    // biome-ignore lint/suspicious/noExplicitAny: a file that is not as it should be
    const changeFile = (change: (value: any) => unknown) => {
      const value = JSON.parse(gunzipSync(file).toString());
      return new Uint8Array(gzipSync(JSON.stringify(change(value) ?? value)));
    };
    for (const [name, bytes, message] of [
      ["damaged", flipped, "is damaged or incomplete"],
      ["cut", file.slice(0, -100), "is damaged or incomplete"],
      ["text", new TextEncoder().encode("hello"), "was not written by"],
      ["another gzip", new Uint8Array(gzipSync("hello")), "was not written by"],
      ["a document without content", new Uint8Array(gzipSync("null")), "was not written by"],
      ["another document", new Uint8Array(gzipSync('{"format":"understudy-bundle"}')), "was not written by"],
      [
        "newer",
        changeFile((value) => ({ ...value, version: 99, understudy: "9.0.0" })),
        "has version 99, written by Understudy 9.0.0; this one reads up to version 1",
      ],
      ["without a version", changeFile(({ version: _version, ...value }) => value), "was not written by"],
      ["without a name", changeFile(({ name: _name, ...value }) => value), "was not written by"],
      ["with another name", changeFile((value) => ({ ...value, name: 5 })), "was not written by"],
      ["without a part", changeFile(({ content: _content, ...value }) => value), "does not hold a sandbox"],
      [
        "with another collection",
        changeFile((value) => {
          value.content.saved.present.tables.nowhere = { put: [], removed: [] };
          return value;
        }),
        "does not hold a sandbox",
      ],
      [
        "of own operations",
        changeFile((value) => {
          value.content.operations = [{ source: "our api.ts", sha256: "0123456789abcdef" }];
          return value;
        }),
        "needs the operations of our api.ts (SHA-256 0123456789ab); open it where these files are, with `understudy open FILE --operations 'our api.ts'`.",
      ],
      [
        "of a secret that is too long for a text",
        changeFile((value) => {
          value.understudy = "⟦given:t0:900000000⟧";
          return value;
        }),
        "was not written by",
      ],
      ["a bomb", new Uint8Array(gzipSync(Buffer.alloc(260 * 1024 * 1024))), "holds more than 256 MB"],
    ] as const) {
      const error = await engine.openFile(bytes as Uint8Array, "opened").then(
        () => undefined,
        (one) => one,
      );
      expect(error?.message, name).toContain(`The file ${message}`);
      expect([error.status, error.problem.field], name).toEqual([422, "file"]);
    }
    expect((await engine.list()).map(({ name }) => name)).toEqual(["default"]);
  });

  // biome-ignore lint/suspicious/noExplicitAny: a file that is not as it should be
  it.each<[what: string, breakIt: (value: any) => void, where: RegExp]>([
    [
      "a record before a change",
      ({ content: { states } }) => Object.assign(findDeletion(states)[2], { title: 7 }),
      /states\.steps\[\d+\]\.threads contains thread_welcome, which is invalid: title/,
    ],
    [
      "a record after a change",
      ({ content: { states } }) =>
        Object.assign(findWrite(states, ([name, , , after]) => name === "users" && after)[3], { email: [] }),
      /states\.steps\[\d+\]\.users contains usr_\w+, which is invalid: email/,
    ],
    [
      "a number",
      ({ content: { states } }) =>
        Object.assign(findWrite(states, ([name, , , after]) => name === "_receivers" && after)[3], {
          served: 1e300,
        }),
      /states\.steps\[\d+\]\._receivers contains rcv_\w+, which is invalid: .*1e\+300, which is too large/,
    ],
    [
      "a record of an internal collection",
      ({ content: { states } }) =>
        Object.assign(findWrite(states, ([name, , , after]) => name === "_timers" && after)[3], {
          kind: "tea",
        }),
      /states\.steps\[\d+\]\._timers contains .+, which is invalid: kind/,
    ],
    [
      "a record of the world before a restore",
      ({ content: { states } }) => {
        const { tables } = states.steps.find((step: { tables?: object }) => step.tables);
        tables.threads.put.push({ ...findDeletion(states)[2], id: "thread_x", title: null });
      },
      /states\.steps\[\d+\]\.tables\.threads contains thread_x, which is invalid: title/,
    ],
    [
      "a field of a step",
      ({ content: { states } }) => Object.assign(states.steps[0], { draws: "many" }),
      /states\.steps\[0\]\.draws/,
    ],
    [
      "a state that is not there",
      ({ content: { states } }) =>
        Object.assign((Object.values(states.entries)[0] as { before: object }).before, { environment: 99 }),
      /states\.entries\.\d+ refers to a state that is not in the file/,
    ],
    [
      "an exchange of the journal",
      ({ journal }) => Object.assign(journal.entries[1], { status: "fine" }),
      /journal\.entries\[1\]\.status/,
    ],
  ])(
    "is refused with the place if %s is broken, and nothing is created [interfaces 19]",
    async (...[, breakIt, where]) => {
      const given = await start();
      await makeRequests(given);
      await given.sandbox.scenarios.activate("slow-network");
      const value = JSON.parse(gunzipSync(await given.sandbox.export()).toString());
      value.content.scenarios.push({ name: "of-the-file", document: { rules: [] } });
      const engine = await startElsewhere();
      await engine.openFile(new Uint8Array(gzipSync(JSON.stringify(value))), "whole");
      breakIt(value);
      value.content.scenarios.push({ name: "of-the-broken-file", document: { rules: [] } });
      const broken = new Uint8Array(gzipSync(JSON.stringify(value)));
      const error = await engine.openFile(broken, "opened").catch((one) => one);
      expect(error.message).toMatch(/^The file does not hold a sandbox that this version can open: /);
      expect(error.message).toMatch(where);
      expect(error.message).toMatch(/[^.]\.$/);
      expect([error.status, error.problem.field]).toEqual([422, "file"]);
      expect((await engine.list()).map(({ name }) => name)).toEqual(["default", "whole"]);
      const { items } = await (await engine.open("default")).scenarios.list();
      const names = items.map(({ name }) => name).filter((name) => name.startsWith("of-the"));
      expect(names).toEqual(["of-the-file"]);
    },
  );

  it.each(["snapshot", "history", "rewind"])(
    "opens after its sandbox has lost its own operations, whose records a %s still has [interfaces 18]",
    async (holder) => {
      const { api, sandbox } = await start();
      const id = { type: "string", readOnly: true };
      const Tag = { type: "object", required: ["id"], properties: { id, name: { type: "string" } } };
      const content = { "application/json": { schema: { $ref: "#/components/schemas/Tag" } } };
      const createTag = {
        ...{ operationId: "createTag", "x-understudy": { create: "tags" }, requestBody: { content } },
        responses: { 201: { description: "OK", content } },
      };
      const openapi = {
        ...{ openapi: "3.1.0", info: { title: "Tags", version: "1" }, components: { schemas: { Tag } } },
        "x-understudy": { collections: { tags: { schema: "#/components/schemas/Tag" } } },
        paths: { "/v1/tags": { post: createTag } },
      };
      const S = "/_control/sandboxes/default";
      await api.call(undefined, "PUT", `${S}/operations`, { openapi });
      expect((await api.call("ada", "POST", "/v1/tags", { name: "red" })).status).toBe(201);
      const [created] = (await sandbox.history.list()).entries;
      if (holder === "snapshot") await sandbox.snapshots.save("tagged");
      await api.call(undefined, "DELETE", `${S}/operations`);
      if (holder === "rewind") await sandbox.history.rewind(created!.id, "after");
      if (holder === "snapshot") await sandbox.reset();
      const opened = await (await startElsewhere()).openFile(await sandbox.export(), "opened");
      expect((await opened.history.list()).total).toBe((await sandbox.history.list()).total);
      if (holder !== "snapshot") await opened.history.rewind(created!.id);
      const name = holder === "snapshot" ? "tagged" : "now";
      const snapshot = await sandbox.snapshots.export(name);
      expect((await opened.snapshots.import("copy", snapshot)).name).toBe("copy");
    },
  );

  it("opens after a change that created records and deleted them itself [interfaces 19]", async () => {
    const reorganize = defineOperation({
      ...{ id: "reorganize", method: "POST", path: "/v1/reorganize", access: "public" },
      handle({ world: { departments } }) {
        const parent = departments.insert({ organization_id: "org_acme", name: "Interim" });
        const parent_id = parent.id;
        const child = departments.insert({ organization_id: "org_acme", name: "Team", parent_id });
        departments.remove(child.id);
        departments.remove(parent.id);
        departments.update("dept_ml", { description: "Reorganized" });
        return {};
      },
    });
    const server = await createUnderstudy({ operations: { reorganize } });
    closing.push(server);
    const sandbox = await server.open("default");
    expect((await sandbox.fetch("/v1/reorganize", { method: "POST" })).status).toBe(200);
    const opened = await server.openFile(await sandbox.export(), "opened");
    const [entry] = (await opened.history.list()).entries;
    expect(await opened.history.changes(entry!.id)).toEqual(
      await sandbox.history.changes((await sandbox.history.list()).entries[0]!.id),
    );
    await opened.history.rewind(entry!.id);
    const { description } = await opened.state("departments").get("dept_ml");
    expect(description).not.toBe("Reorganized");
  });
});

const describeCollection = (noun: string) => `openapi: 3.1.0
info: { title: ${noun}s, version: "1" }
paths:
  /v1/${noun}s:
    get: { operationId: list-${noun}, x-understudy: { list: ${noun}s }, responses: { "200": { description: All } } }
    post:
      operationId: create-${noun}
      x-understudy: { create: ${noun}s }
      requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/One" } } } }
      responses: { "201": { description: One } }
components:
  schemas:
    One: { type: object, properties: { id: { type: string }, name: { type: string } } }
x-understudy: { collections: { ${noun}s: { prefix: ${noun}_, schema: "#/components/schemas/One" } } }
`;

// biome-ignore lint/suspicious/noExplicitAny: a file that is not as it should be
const findWrite = (states: any, isIt: (written: any[]) => unknown) =>
  states.steps.flatMap((step: { written: unknown[][] }) => step.written).find(isIt);
const findDeletion = (states: unknown) =>
  findWrite(states, ([name, id, , after]) => name === "threads" && id === "thread_welcome" && !after);
