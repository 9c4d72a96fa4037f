import { afterAll, beforeAll, expect, it } from "vitest";
import { createSandbox } from "../../src/client/engine.ts";
import {
  connect,
  createUnderstudy,
  gradeReceiver,
  type LocalUnderstudy,
  type SandboxClient,
} from "../../src/client/index.ts";
import { CONTROL_OPERATIONS } from "../../src/control/operations/index.ts";

/* JavaScript users can pass anything to the library's methods [interfaces 8]. */

let understudy: LocalUnderstudy;
let sandbox: SandboxClient;
beforeAll(async () => {
  understudy = await createUnderstudy();
  // Without records, since some of the thousand calls export them all.
  sandbox = await understudy.sandbox({ name: "mine", fixture: { organizations: [] } });
});
afterAll(() => understudy.close());

type Method = (...values: unknown[]) => unknown;

/** Messages of JavaScript or the router, which do not help a user of the method. */
const RAW =
  /Cannot (read|convert|destructure|use)|is not (a function|iterable)|Invalid URL|\[object|The control API has no/;

async function explain(call: () => unknown): Promise<string> {
  try {
    const value = call();
    // A stream throws its error when it is read.
    const read = (value as Partial<AsyncIterator<unknown>> | undefined)?.next;
    const first = read === undefined ? value : Promise.race([read.call(value), undefined]);
    return `accepted: ${JSON.stringify(await first)?.slice(0, 80)}`;
  } catch (error) {
    return String(error);
  }
}

const WITHOUT_WRONG_INPUT = /^(fetch|close|fleet|list|health|coverage|info|outbox|bundle|export|delete)$/;

/** Lists all methods with arguments, of the server, the sandbox and its groups. */
function* listMethods(): Generator<[string, Method]> {
  for (const [owner, value] of Object.entries({ understudy, sandbox, threads: sandbox.state("threads") }))
    for (const [name, part] of Object.entries(value)) {
      if (typeof part === "function" && !WITHOUT_WRONG_INPUT.test(name))
        yield [`${owner}.${name}`, part as Method];
      if (owner !== "sandbox" || typeof part !== "object" || ["credentials", "http"].includes(name)) continue;
      for (const [inner, method] of Object.entries(part as object))
        if (typeof method === "function") yield [`${name}.${inner}`, method];
    }
}

it("every method explains a wrong argument in a sentence, in any place [interfaces 8]", async () => {
  const bad: string[] = [];
  let calls = 0;
  for (const [name, method] of listMethods())
    for (const wrong of [null, 5, "", "..", [], {}, true, { nope: 1 }])
      for (const before of [[], ["user.created"], ["now", {}]]) {
        if (name === "held.next" && JSON.stringify(wrong) === "{}") continue;
        calls += 1;
        const message = await explain(() => method(...before, wrong));
        if (RAW.test(message)) bad.push(`${name}(${JSON.stringify([...before, wrong])}): ${message}`);
      }
  expect(calls).toBeGreaterThan(900);
  expect(bad).toEqual([]);
  expect((await understudy.open("mine")).name).toBe("mine");
});

const gradeClient = (options: unknown) => sandbox.gradeClient(async () => {}, options as never);
const gradeAny = (options: object) =>
  gradeReceiver("http://127.0.0.1:9", { secret: "whsec_x", ...options } as never);

it.each<[string, () => unknown, string]>([
  ["open(empty)", () => understudy.open(""), '"" is not an id or a name'],
  ["sandbox(null)", () => understudy.sandbox(null as never), "options are an object, not null"],
  [
    "connect(url, token)",
    () => connect(understudy.url, "t" as never),
    "connect takes its options as an object",
  ],
  ["faults.remove(..)", () => sandbox.faults.remove(".."), '".." is not an id or a name'],
  ["snapshots.remove(path)", () => sandbox.snapshots.remove("../faults"), 'There is no snapshot "../faults"'],
  [
    "events.trigger(_, text)",
    () => sandbox.events.trigger("user.created", "usr_dan" as never),
    "options are",
  ],
  ["journal.list(number)", () => sandbox.journal.list(5 as never), "options are an object, not 5"],
  ["held.next(_, number)", () => sandbox.held.next({}, 5 as never), "held.next takes its options as"],
  ["held.next(_, typo)", () => sandbox.held.next({}, { witin: "1s" } as never), 'has no option "witin"'],
  ["gradeClient(null)", () => sandbox.gradeClient(null as never), "gradeClient takes a function that runs"],
  [
    "gradeReceiver(url)",
    () => gradeReceiver("http://127.0.0.1:9", undefined as never),
    "options as an object",
  ],
  [
    "gradeReceiver(url, {})",
    () => gradeReceiver("http://127.0.0.1:9", {} as never),
    "the option secret must be a text",
  ],
  ["gradeClient(_, null)", () => gradeClient(null), "gradeClient takes its options as an object"],
  ["gradeClient(_, typo)", () => gradeClient({ onyl: ["x"] }), 'gradeClient has no option "onyl"'],
  ["gradeClient({only: text})", () => gradeClient({ only: "x" }), 'only is a list of checks, not "x"'],
  ["gradeClient({skip: map})", () => gradeClient({ skip: {} }), "skip is a list of checks, not {}"],
  [
    "gradeClient({timeoutMs: text})",
    () => gradeClient({ timeoutMs: "5s" }),
    'timeoutMs is a number, not "5s"',
  ],
  ["gradeReceiver({only: text})", () => gradeAny({ only: "x" }), 'only is a list, not "x"'],
  ["gradeReceiver({skip: number})", () => gradeAny({ skip: 5 }), "skip is a list, not 5"],
  ["gradeReceiver({only: [5]})", () => gradeAny({ only: [5] }), 'there is no check "5"'],
  ["createSandbox({persist})", () => createSandbox({ persist: "a" }), "persist in pages only"],
])("%s says what is wrong [interfaces 8]", async (_what, call, expected) => {
  expect(await explain(call)).toContain(expected);
});

it.each([
  { persist: "folder" },
  { overrides: "yes" },
  { refuseDefault: 1 },
  { certificate: true },
  { trustProxy: "127.0.0.1" },
  { allowHosts: [5] },
  { upstream: "http://127.0.0.1:9" },
  { shared: { token: "t".repeat(40), allowAddresses: "10.0.0.0/8" } },
  { shared: { token: "t".repeat(40), limits: { rules: "5" } } },
  { shared: { token: "t".repeat(40), limit: { rules: 5 } } },
  { upstream: { url: "127.0.0.1:9" } },
  { operations: null },
  { openapi: "tags.yaml" },
  { openapi: null },
])("createUnderstudy says which option is wrong: %j [interfaces 8]", async (options) => {
  const message = await explain(() => createUnderstudy(options as object));
  expect(message).toContain(Object.keys(options)[0]);
  expect(message).not.toMatch(/^accepted/);
  expect(message).not.toMatch(RAW);
});

it("every control call refuses a body that it does not take, and keys that it does not know [interfaces 4]", async () => {
  await sandbox.faults.add({ id: "threads", effect: { delay: "1ms" } });
  const accepted: string[] = [];
  for (const { id, method, path } of CONTROL_OPERATIONS) {
    if (method === "GET") continue;
    const target = path.replace("{name}", "mine").replaceAll(/\{\w+\}/g, "threads");
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${understudy.url}${target}`, { method, headers, body: '{"zzz":1}' });
    if (answer.status !== 422) accepted.push(`${id}: ${answer.status}`);
    await answer.body?.cancel();
  }
  expect(accepted).toEqual([]);
});
