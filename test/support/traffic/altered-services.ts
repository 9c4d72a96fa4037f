import { join } from "node:path";
import { expect } from "vitest";
import { RESOURCES } from "../../../src/engine/resources/index.ts";
import { type HarEntry, toHarEntry } from "../../../src/tools/har/har-entry.ts";
import { HarFile } from "../../../src/tools/har/har-file.ts";
import { createRecorder } from "../../../src/tools/traffic/recorder.ts";
import { Contract } from "../../../src/tools/verify/contract.ts";
import { verifyRecorded } from "../../../src/tools/verify/recorded/verify-recorded.ts";
import type { VerifyReport } from "../../../src/tools/verify/report.ts";
import type { VerifyOptions } from "../../../src/tools/verify/run-verify.ts";
import { startReference } from "../harness.ts";
import { createTempFolder } from "../run-understudy.ts";
import { type ProxiedRequest, type ProxiedResponse, startProxy, verify } from "../verify-setup.ts";
import type { Alteration } from "./alterations.ts";

const contract = new Contract(RESOURCES);
const getSandboxName = (path: string) => /^\/_s\/([^/]+)/.exec(path)?.[1] ?? "";
const UNALTERED = "as-it-is-recorded";

export type AlteredServices = Awaited<ReturnType<typeof startAlteredServices>>;

/** Starts servers behind a proxy, each with one deviation from the contract, and records `session` with them. */
export async function startAlteredServices(session: (base: string) => Promise<void>) {
  const api = await startReference();
  const altered = new Map<string, Alteration>();
  const seen: { request: ProxiedRequest; answer: ProxiedResponse }[] = [];
  const between = await startProxy(
    api.url,
    (request, answer) => {
      if (getSandboxName(request.path) === UNALTERED) seen.push({ request, answer });
      return altered.get(getSandboxName(request.path))?.answer?.(answer, request) ?? answer;
    },
    (request) => altered.get(getSandboxName(request.path))?.ask?.(request) ?? request,
  );

  /** Returns the base URL of a service with one deviation or none. */
  async function startService(alteration?: Alteration, name?: string): Promise<string> {
    const clock = { mode: "frozen", now: "2026-03-15T12:00:00.000Z" };
    const made = await api.call(undefined, "POST", "/_control/sandboxes", { name, clock });
    expect(made.status, made.text).toBe(201);
    if (alteration !== undefined) altered.set(made.body.name, alteration);
    return `${between.url}/_s/${made.body.name}`;
  }

  async function record(target: string): Promise<HarEntry[]> {
    const entries: HarEntry[] = [];
    const recorder = await createRecorder({
      target,
      port: 0,
      host: "127.0.0.1",
      onExchange: (entry) => entries.push(entry),
    });
    await session(recorder.url);
    await recorder.close();
    return entries;
  }

  const recorded = await record(await startService(undefined, UNALTERED));
  expect(recorded).toHaveLength(seen.length);
  /** The recorded session without a deviation. */
  const unaltered = recorded.map((entry, i) => ({ ...seen[i]!, entry }));

  return {
    /** Verifies a service with one deviation or none in a live run. */
    async live(
      alteration: Alteration | undefined,
      options: Pick<VerifyOptions, "write" | "only" | "idsToUse">,
    ): Promise<VerifyReport> {
      return verify(api, "ada", { target: await startService(alteration), ...options });
    },
    /** Verifies a recording of the session. */
    async recorded(alteration?: Alteration): Promise<VerifyReport> {
      if (alteration === undefined) return verifyEntries(unaltered.map(({ entry }) => entry));
      if (alteration.ask !== undefined) return verifyEntries(await record(await startService(alteration)));
      return verifyEntries(alter(unaltered, alteration.answer!));
    },
    async close() {
      await between.close();
      await api.close();
    },
  };
}

/** Requests do not depend on responses, so only the responses of the recording are replaced. */
function alter(
  session: readonly { request: ProxiedRequest; answer: ProxiedResponse; entry: HarEntry }[],
  change: NonNullable<Alteration["answer"]>,
): HarEntry[] {
  return session.map(({ request, answer, entry }) => {
    const { status, headers, body } = change(answer, request);
    if (status === answer.status && headers === answer.headers && body === answer.body) return entry;
    const nothing = { bytes: undefined, size: 0 };
    const { response } = toHarEntry({
      ...{ startedAt: 0, send: 0, wait: 0, receive: 0, method: "", url: "", query: "" },
      ...{ requestHeaders: [], requestBody: nothing, status },
      responseHeaders: Object.entries(headers).flatMap(([name, value]) => [name, String(value)]),
      responseBody: body === "" ? nothing : { bytes: body, size: Buffer.byteLength(body) },
    });
    return { ...entry, response };
  });
}

/** Writes the entries as the recorder does, and verifies them. */
async function verifyEntries(entries: readonly HarEntry[]): Promise<VerifyReport> {
  const file = join(createTempFolder(), "session.har");
  const har = new HarFile(file, { version: "0", replace: false });
  for (const entry of entries) har.add(entry);
  har.close();
  return verifyRecorded({ contract, file, target: undefined });
}

export function listReported({ checks }: VerifyReport): string[] {
  return checks.filter(({ outcome }) => outcome === "failed" || outcome === "differs").map(({ id }) => id);
}
