import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "./connect.ts";
import { createUnderstudy, type LocalUnderstudy } from "./create-understudy.ts";
import { ControlError, ControlHttp, UnreachableError } from "./http.ts";
import type { SandboxClient } from "./sandbox.ts";

let understudy: LocalUnderstudy;
let sandbox: SandboxClient;
beforeAll(async () => {
  understudy = await createUnderstudy({ seed: 7 });
  sandbox = await understudy.sandbox({ clock: { mode: "frozen", now: "2026-03-15T12:00:00Z" } });
});
afterAll(() => understudy.close());

const catchRefusal = (call: Promise<unknown>): Promise<ControlError> =>
  call.then(
    () => Promise.reject(new Error("it was not refused")),
    (error: unknown) => (error instanceof ControlError ? error : Promise.reject(error)),
  );

// Misspellings below `@ts-expect-error` must not compile: `tsc` fails on an unneeded directive.
describe("the library's types match the answers of the control API [interfaces 8]", () => {
  it("sandboxes, clocks and timers have the declared types [interfaces 8]", async () => {
    const { settings, clock } = await sandbox.configure({ webhook_timeout_seconds: 5, preview: "on" });
    expect([settings.webhook_timeout_seconds, settings.preview]).toEqual([5, "on"]);
    expect([clock.mode, clock.rate]).toEqual(["frozen", 0]);
    const { now, ran } = await sandbox.clock.advance("90s");
    expect(now).toBe("2026-03-15T12:01:30.000Z");
    const kinds: (
      | "webhook.retry"
      | "file.step"
      | "connector.job"
      | "transcription.step"
      | "meeting.line"
      | "invoice"
      | "expiry"
      | "lease"
    )[] = ran.map(({ kind }) => kind);
    expect(kinds.length).toBeGreaterThan(0);
    // @ts-expect-error there is no such mode
    await catchRefusal(sandbox.clock.set({ mode: "stopped" }));
    // @ts-expect-error there is no such setting
    await catchRefusal(sandbox.configure({ previw: "on" }));
  });

  it("a server that does not answer is reported with advice for a program, not for a command line [interfaces 8]", async () => {
    const error = await connect("http://127.0.0.1:9").health().catch(String);
    expect(error).toMatch(
      /No Understudy answers at .*, or name another in UNDERSTUDY_URL or by connect\(url\)\.$/,
    );
    expect(error).not.toContain("--url");
  });

  it("a misspelt user, or one without a valid key, is refused with the nearest name [interfaces 8]", async () => {
    const { credentials } = await understudy.sandbox();
    // The users of the shipped fixture need no check for undefined.
    const key: string = credentials.usr_dan;
    expect(key).toMatch(/^ak_dan/);
    // @ts-expect-error: it does not compile either.
    expect(() => credentials["usr_daan"]).toThrow(
      /^"usr_daan" has no valid API key in this sandbox\. Did you mean "usr_dan"\? These users have one: usr_ada, /,
    );
    const untyped: Readonly<Record<string, string>> = credentials;
    expect(() => untyped["uid_nobody"]).toThrow(/^"uid_nobody" has no valid API key/);
    const { credentials: none } = await understudy.sandbox({ fixture: { name: "empty" } });
    expect(() => none.usr_dan).toThrow(/These users have one: none\.$/);
    // Code that prints, compares or searches it finds an ordinary object.
    expect("usr_daan" in credentials).toBe(false);
    expect(Object.keys(credentials)).toContain("usr_dan");
    expect(inspect(credentials)).toContain(key);
    expect(await Promise.resolve(credentials)).toEqual({ ...credentials });
  });

  it("each user of a world with more than a thousand keys has one [interfaces 8]", async () => {
    const ids = Array.from({ length: 1001 }, (_, position) => `usr_${position}`);
    const fixture = {
      organizations: [{ id: "org_large", name: "Large" }],
      users: ids.map((id) => ({ id, memberships: { org_large: "member" as const } })),
      api_keys: ids.map((user_id) => ({ id: `apikey_${user_id}`, user_id, current: "org_large" })),
    };
    const { credentials } = await understudy.sandbox({ fixture });
    expect(Object.keys(credentials)).toHaveLength(1001);
  });

  it("rules and their hits have the declared types [interfaces 8]", async () => {
    const rule = await sandbox.faults.add({
      match: { operation: "threads.delete" },
      times: 1,
      effect: { error: "INSUFFICIENT_PERMISSIONS" },
    });
    await fetch(`${sandbox.url}/v1/threads/thread_ada`, {
      method: "DELETE",
      headers: { "api-key": sandbox.credentials["usr_ada"]! },
    });
    const [triggered] = (await sandbox.faults.list()).items;
    expect(triggered).toMatchObject({ id: rule.id, hits: 1, lease: null, spent: true });
    const { ok, nearest } = await sandbox.journal.verify({ match: { code: "INVALID_INPUT" }, count: 1 });
    expect([ok, nearest[0]?.differences]).toEqual([
      false,
      ["code is INSUFFICIENT_PERMISSIONS, not INVALID_INPUT"],
    ]);
    // @ts-expect-error a rule has no such key
    await catchRefusal(sandbox.faults.add({ matches: { operation: "threads.delete" } }));
  });

  it("events, receivers and deliveries have the declared types [interfaces 8]", async () => {
    const receiver = await sandbox.receivers.add({ answers: [{ status: 500, delay: "1ms" }, 200] });
    await sandbox.state("webhooks").create({ url: receiver.url, events: ["user.created"] });
    const { deliveries } = await sandbox.events.trigger("user.created", { for: "usr_dan" });
    expect(deliveries.map(({ status }) => status)).toContain("failed");
    const { items } = await sandbox.receivers.requests(receiver.id);
    expect(items.map(({ verdict, answer }) => [verdict, answer])).toEqual([["valid", "500 after 1ms"]]);
    // @ts-expect-error there is no such event
    await catchRefusal(sandbox.events.trigger("user.creatd"));
  });

  it("a collection's records have the fields of their type [interfaces 8]", async () => {
    const made = await sandbox
      .state("threads")
      .create({ owner_id: "usr_dan", title: "Plans" }, { silent: true });
    const shown: [string, string] = [made.title, made.created_at];
    expect(shown).toEqual(["Plans", "2026-03-15T12:01:30.000Z"]);
    expect((await sandbox.state("threads").list({ title: "Plans", limit: 5 })).items).toEqual([made]);
    const at = new Date(made.created_at) as unknown as string;
    expect((await sandbox.state("threads").list({ title: "Plans", created_at: at })).items).toEqual([made]);
    expect((await sandbox.info()).counts.threads).toBeGreaterThan(3);
    // @ts-expect-error a thread has no such field
    await catchRefusal(sandbox.state("threads").update(made.id, { titel: "Plots" }));
    // @ts-expect-error there is no such collection
    await catchRefusal(sandbox.state("threds").list());
  });

  it("a refusal's message contains its hint once [interfaces 8]", async () => {
    const error = await catchRefusal(understudy.open("defualt"));
    expect(error.message).toBe('There is no sandbox "defualt". Did you mean "default"?');
    expect([error.status, error.problem.hint, error.problem.value]).toEqual([404, "default", "defualt"]);
  });

  it.each(["名前", "a\nb"])(
    "a name that no header can carry is refused as a wrong name: %j [interfaces 8]",
    async (name) => {
      const error = await catchRefusal(understudy.sandbox({ name }));
      expect([error.status, error.problem.field]).toEqual([422, "name"]);
    },
  );

  it("an answer of another server is reported as not Understudy's [interfaces 8]", async () => {
    const error = await catchRefusal(understudy.http.call("GET", "/v1/models"));
    expect([error.status, error.problem.type]).toEqual([401, "about:blank"]);
    expect(error.message).toBe(
      `The server at ${understudy.url} answered 401, but not in the form of the control API. Name the address that \`understudy start\` printed.`,
    );
  });
});

it.each([
  ["without a detail", '{"type":"https://tools.ietf.org/html/rfc9110#section-15.5.5","title":"Not Found"}'],
  ["with a detail", '{"type":"urn:other:missing","detail":"No such page."}'],
  ["that is not JSON", "{"],
  ["that is null", "null"],
])("a problem of another server %s is reported as not Understudy's [interfaces 8]", async (_, body) => {
  const reply = { status: 404, statusText: "", contentType: "application/problem+json", chunks: [] as never };
  const transport = async () => ({ ...reply, text: async () => body, bytes: [] as never });
  const http = new ControlHttp("http://127.0.0.1:9", undefined, { transport });
  const hint = "Name the address that `understudy start` printed.";
  await expect(http.call("GET", "/a")).rejects.toThrow(
    `The server at http://127.0.0.1:9 answered 404, but not in the form of the control API. ${hint}`,
  );
  await expect(http.fetchHealth()).rejects.toThrow(
    `The server at http://127.0.0.1:9 is not Understudy: it answered 404. ${hint}`,
  );
});

it("a connection lost within an answer is reported like a server that is gone [interfaces 8]", async () => {
  const lose = () => Promise.reject(Object.assign(new Error("aborted"), { code: "ECONNRESET" }));
  for (const status of [200, 500]) {
    const reply = { status, statusText: "", contentType: "application/problem+json", chunks: lose as never };
    const transport = async () => ({ ...reply, text: lose, bytes: lose });
    const http = new ControlHttp("http://127.0.0.1:9", undefined, { transport });
    for (const call of [http.call("GET", "/a"), http.fetchBytes("/a"), http.fetchText("/a")])
      await expect(call).rejects.toBeInstanceOf(UnreachableError);
  }
});

it("a printed ControlError shows its hint once [interfaces 11]", async () => {
  const error = await catchRefusal(sandbox.events.trigger("user.creatd" as never));
  expect(error.problem.hint).toBe("user.created");
  expect(inspect(error).split('Did you mean "user.created"?')).toHaveLength(2);
  expect(inspect(error)).not.toContain("hint");
});
