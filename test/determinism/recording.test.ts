/**
 * The recording contains 300 requests and the server's responses before its restructuring. This test sends the
 * requests in order to a server with the same fixture, seed and frozen clock, and expects the same responses.
 * `UPDATE_RECORDING=1 npx vitest run test/determinism` sends the requests, writes the new responses into the
 * recording, and compares them with those of a second server. Requests contain ids and tokens of earlier responses,
 * since these derive from the seed. An intended change needs an entry in intended-changes.ts with a reason.
 */
import { describe, expect, it } from "vitest";
import { startReference } from "../support/harness.ts";
import { listDifferences } from "./differences.ts";
import { exchange } from "./exchange.ts";
import { INTENDED_CHANGES } from "./intended-changes.ts";
import { type Answer, type Entry, readRecording, writeRecording } from "./recording.ts";

const isUpdate = process.env["UPDATE_RECORDING"] === "1";

/** Sends the requests to a new server. Returns them with its responses. */
async function replay(entries: readonly Entry[]): Promise<Entry[]> {
  const api = await startReference({ seed: 1 });
  try {
    const port = Number(new URL(api.url).port);
    const answered: Entry[] = [];
    for (const { request } of entries) {
      // Wait for deliveries of earlier requests, since their duration is not deterministic.
      await api.advance(0);
      answered.push({ request, answer: await exchange(port, request) });
    }
    return answered;
  } finally {
    await api.close();
  }
}

/** Removes the intended changes; the rest must equal the recording. */
function removeIntendedChanges(
  entry: Entry,
  answered: Entry,
  position: number,
): [Answer, Answer] | undefined {
  let pair: [Answer, Answer] | undefined = [entry.answer, answered.answer];
  for (const { request, compare } of INTENDED_CHANGES) {
    const applies = typeof request === "number" ? request === position : request(entry);
    if (applies && pair !== undefined) pair = compare?.(...pair);
  }
  return pair;
}

describe("the recorded requests", () => {
  it("get the recorded answers, byte for byte", { timeout: 120_000, retry: 0 }, async () => {
    if (isUpdate) writeRecording(await replay(readRecording()));
    const recorded = readRecording();
    const differences = listDifferences(recorded, await replay(recorded), removeIntendedChanges);
    expect(differences.count, differences.report).toBe(0);
  });

  it("are 300, with answers of many kinds", () => {
    const recorded = readRecording();
    expect(recorded).toHaveLength(300);
    const statuses = new Set(recorded.map(({ answer }) => answer.status));
    const kinds = [200, 201, 202, 204, 304, 308, 400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 429, 499];
    expect([...statuses]).toEqual(expect.arrayContaining(kinds));
    expect(statuses.has(500), "the server failed").toBe(false);
  });
});
