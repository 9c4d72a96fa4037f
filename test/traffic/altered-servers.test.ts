import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { RESOURCES } from "../../src/engine/resources/index.ts";
import { type HarEntry, harEntry } from "../../src/tools/har/har-entry.ts";
import { HarFile } from "../../src/tools/har/har-file.ts";
import { createRecorder } from "../../src/tools/traffic/recorder.ts";
import { Contract } from "../../src/tools/verify/contract.ts";
import { verifyRecorded } from "../../src/tools/verify/recorded/verify-recorded.ts";
import type { VerifyReport } from "../../src/tools/verify/report.ts";
import type { VerifyOptions } from "../../src/tools/verify/run-verify.ts";
import { rows } from "../support/docs/pages.ts";
import { type Api, startReference } from "../support/harness.ts";
import { removeScratch, scratch } from "../support/run-understudy.ts";
import { ALTERATIONS, type Alteration } from "../support/traffic/alterations.ts";
import { clientSession } from "../support/traffic/client-session.ts";
import { type Altered, type Between, proxy, type Seen, verify } from "../support/verify-setup.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let api: Api;
let between: Between;
const contract = new Contract(RESOURCES);
const altered = new Map<string, Alteration>();
const sandboxOf = (path: string) => /^\/_s\/([^/]+)/.exec(path)?.[1] ?? "";
const AS_IT_IS = "as-it-is-recorded";
/** An hour of an application's traffic with a service that does not depart, and how it was recorded. */
let hour: { request: Seen; answer: Altered; entry: HarEntry }[];

beforeAll(async () => {
  api = await startReference();
  const seen: Pick<(typeof hour)[number], "request" | "answer">[] = [];
  between = await proxy(
    api.url,
    (request, answer) => {
      if (sandboxOf(request.path) === AS_IT_IS) seen.push({ request, answer });
      return altered.get(sandboxOf(request.path))?.answer?.(answer, request) ?? answer;
    },
    (request) => altered.get(sandboxOf(request.path))?.ask?.(request) ?? request,
  );
  const entries = await recorded(await service(undefined, AS_IT_IS));
  expect(entries).toHaveLength(seen.length);
  hour = entries.map((entry, i) => ({ ...seen[i]!, entry }));
});
afterAll(async () => {
  await between.close();
  await api.close();
  removeScratch();
});

/** A service of its own, which departs in one way or in none. */
async function service(alteration?: Alteration, called?: string): Promise<string> {
  const clock = { mode: "frozen", now: "2026-03-15T12:00:00.000Z" };
  const made = await api.call(undefined, "POST", "/_control/sandboxes", { name: called, clock });
  expect(made.status, made.text).toBe(201);
  const { name } = made.body;
  if (alteration !== undefined) altered.set(name, alteration);
  return `${between.url}/_s/${name}`;
}

/** An hour of an application's traffic, as the recorder tells of it. */
async function recorded(target: string): Promise<HarEntry[]> {
  const entries: HarEntry[] = [];
  const recorder = await createRecorder({
    target,
    port: 0,
    host: "127.0.0.1",
    onExchange: (entry) => entries.push(entry),
  });
  await clientSession(recorder.url);
  await recorder.close();
  return entries;
}

/**
 * The same hour with a service that departs in what it answers: the client's steps go by no answer, so only the
 * answers are others, and only they are archived anew.
 */
function departing(change: NonNullable<Alteration["answer"]>): HarEntry[] {
  return hour.map(({ request, answer, entry }) => {
    const { status, headers, body } = change(answer, request);
    if (status === answer.status && headers === answer.headers && body === answer.body) return entry;
    const nothing = { bytes: undefined, size: 0 };
    const { response } = harEntry({
      ...{ at: 0, send: 0, wait: 0, receive: 0, method: "", url: "", query: "" },
      ...{ requestHeaders: [], requestBody: nothing, status },
      responseHeaders: Object.entries(headers).flatMap(([name, value]) => [name, String(value)]),
      responseBody: body === "" ? nothing : { bytes: body, size: Buffer.byteLength(body) },
    });
    return { ...entry, response };
  });
}

/** Written as the recorder writes it, and judged. */
async function judged(entries: readonly HarEntry[]): Promise<VerifyReport> {
  const file = join(scratch(), "session.har");
  const har = new HarFile(file, { version: "0", replace: false });
  for (const entry of entries) har.add(entry);
  har.close();
  return verifyRecorded({ contract, file, target: undefined });
}

const live = (target: string, options: Pick<VerifyOptions, "write" | "only">) =>
  verify(api, "ada", { target, ...options });

/**
 * The check in question, with the answers of its resource, which it begins from, and, for what looks back at all
 * answers, all of them. The rest of a run tells it nothing: an Understudy's objects are found without it.
 */
const around = (id: string): VerifyOptions["only"] => {
  const needed = id.startsWith("headers/") ? "" : id.slice(0, id.indexOf(".") + 1);
  return (check) => check.id === id || (check.family === "answers" && check.id.startsWith(needed));
};

function reported({ checks }: VerifyReport): string[] {
  return checks.filter(({ outcome }) => outcome === "failed" || outcome === "differs").map(({ id }) => id);
}

describe("a service that departs from the contract in one way", () => {
  it("nothing is reported of one that does not [interfaces 12]", async () => {
    expect(reported(await live(await service(), { write: true }))).toEqual([]);
    const report = await judged(hour.map(({ entry }) => entry));
    expect(reported(report)).toEqual([]);
    expect(report.recorded).toMatchObject({ unknown_paths: 0, other_hosts: 0, not_judged: {} });
    expect(report.recorded!.judged).toBe(report.recorded!.entries);
  });

  it.each(ALTERATIONS)("verify finds $title [interfaces 12]", async (one) => {
    const [asked, told] = await Promise.all([
      service(one).then((target) => live(target, { write: one.write === true, only: around(one.live) })),
      one.ask === undefined ? judged(departing(one.answer!)) : service(one).then(recorded).then(judged),
    ]);
    expect(reported(asked)).toContain(one.live);
    if (one.har === null) expect(reported(told)).toEqual([]);
    else expect(reported(told)).toContain(one.har);
  });

  it("the table in docs/verify.md is what is found [interfaces 12]", () => {
    expect(ALTERATIONS.length).toBeGreaterThanOrEqual(30);
    expect(ALTERATIONS.filter(({ har }) => har !== null).length).toBeGreaterThanOrEqual(25);
    const shown = rows("docs/verify.md").filter(([title]) => ALTERATIONS.some((one) => one.title === title));
    expect(shown.map(([title, asked, told]) => [title, asked, told])).toEqual(
      ALTERATIONS.map(({ title, live, har }) => [
        title,
        `\`${live}\``,
        har === null ? "not shown" : `\`${har}\``,
      ]),
    );
  });
});
