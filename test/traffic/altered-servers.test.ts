import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RESOURCES } from "../../src/resources/index.ts";
import { HarFile } from "../../src/traffic/har-file.ts";
import { createRecorder } from "../../src/traffic/recorder.ts";
import { Contract } from "../../src/verify/contract.ts";
import { verifyRecorded } from "../../src/verify/recorded/verify-recorded.ts";
import type { VerifyReport } from "../../src/verify/report.ts";
import type { VerifyOptions } from "../../src/verify/run-verify.ts";
import { rows } from "../support/docs/pages.ts";
import { type Api, startReference } from "../support/harness.ts";
import { removeScratch, scratch } from "../support/run-understudy.ts";
import { ALTERATIONS, type Alteration } from "../support/traffic/alterations.ts";
import { clientSession } from "../support/traffic/client-session.ts";
import { type Between, proxy, verify } from "../support/verify-setup.ts";

let api: Api;
let between: Between;
const altered = new Map<string, Alteration>();
const sandboxOf = (path: string) => /^\/_s\/([^/]+)/.exec(path)?.[1] ?? "";

beforeAll(async () => {
  api = await startReference();
  between = await proxy(
    api.url,
    (request, answer) => altered.get(sandboxOf(request.path))?.answer?.(answer, request) ?? answer,
    (request) => altered.get(sandboxOf(request.path))?.ask?.(request) ?? request,
  );
});
afterAll(async () => {
  await between.close();
  await api.close();
  removeScratch();
});

/** A service of its own, which departs in one way or in none. */
async function service(name: string, alteration?: Alteration): Promise<string> {
  const clock = { mode: "frozen", now: "2026-03-15T12:00:00.000Z" };
  const made = await api.call(undefined, "POST", "/_control/sandboxes", { name, clock });
  expect(made.status, made.text).toBe(201);
  if (alteration !== undefined) altered.set(name, alteration);
  return `${between.url}/_s/${name}`;
}

/** An hour of an application's traffic, as the recorder writes it, judged. */
async function recorded(target: string): Promise<VerifyReport> {
  const file = join(scratch(), "session.har");
  const har = new HarFile(file, { version: "0", replace: false });
  const recorder = await createRecorder({
    target,
    port: 0,
    host: "127.0.0.1",
    onExchange: (entry) => har.add(entry),
  });
  await clientSession(recorder.url);
  await recorder.close();
  har.close();
  return verifyRecorded({ contract: new Contract(RESOURCES), file, target: undefined });
}

const live = (target: string, options: Pick<VerifyOptions, "write" | "only">) =>
  verify(api, "ada", { target, ...options });

/**
 * The check in question, with what finds its objects and what looks back at all answers. The rest of a run, most of
 * it refusals and credentials, tells it nothing.
 */
const around =
  (id: string): VerifyOptions["only"] =>
  (check) =>
    check.id === id || check.family === "answers" || check.family === "headers";

function reported({ checks }: VerifyReport): string[] {
  return checks.filter(({ outcome }) => outcome === "failed" || outcome === "differs").map(({ id }) => id);
}

describe("a service that departs from the contract in one way", () => {
  it("interfaces 12 nothing is reported of one that does not", async () => {
    expect(reported(await live(await service("as-it-is"), { write: true }))).toEqual([]);
    const report = await recorded(await service("as-it-is-recorded"));
    expect(reported(report)).toEqual([]);
    expect(report.recorded).toMatchObject({ unknown_paths: 0, other_hosts: 0, not_judged: {} });
    expect(report.recorded!.judged).toBe(report.recorded!.entries);
  });

  it.each(ALTERATIONS.map((one, i) => ({ ...one, i })))("interfaces 12 verify finds $title", async (one) => {
    const [asked, told] = await Promise.all([
      service(`live-${one.i}`, one).then((target) =>
        live(target, { write: one.write === true, only: around(one.live) }),
      ),
      service(`har-${one.i}`, one).then(recorded),
    ]);
    expect(reported(asked)).toContain(one.live);
    if (one.har === null) expect(reported(told)).toEqual([]);
    else expect(reported(told)).toContain(one.har);
  });

  it("interfaces 12 the table in docs/verify.md is what is found", () => {
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
