import { afterEach, beforeEach, expect, it } from "vitest";
import type { JournalEntry } from "../../types/control-api.ts";
import { type Api, startReference } from "../support/harness.ts";
import { createHistoryClient } from "../support/history-setup.ts";

const JOURNAL = "/_control/sandboxes/default/journal";
let api: Api;
let history: ReturnType<typeof createHistoryClient>;
beforeEach(async () => {
  api = await startReference();
  history = createHistoryClient(api);
});
afterEach(() => api.close());

async function listSeqs() {
  const journal = (await api.call(undefined, "GET", JOURNAL)).body.entries as JournalEntry[];
  const changes = await history.entries();
  return { journal, changes };
}

it("a request that changes something has one number in the journal and in the history [interfaces 10]", async () => {
  await api.call("ada", "GET", "/v1/threads");
  await api.call("ada", "DELETE", "/v1/threads/thread_ada");
  const { journal, changes } = await listSeqs();
  expect(journal.map(({ seq }) => seq)).toEqual([2, 1]);
  expect(changes.map(({ seq }) => seq)).toEqual([2]);
});

it("a rewind never makes a number of the timeline repeat [interfaces 10]", async () => {
  const ids: string[] = [];
  for (let round = 0; round < 3; round++) {
    await api.call("ada", "GET", "/v1/threads");
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    await history.rewind((await history.newest("?kind=request")).id);
  }
  const { journal, changes } = await listSeqs();
  for (const { id } of journal) ids.push(id);
  // The sandbox draws the same request ids again, so they do not identify an entry.
  expect(new Set(ids).size).toBeLessThan(ids.length);
  const all = new Set([...journal, ...changes].map(({ seq }) => seq));
  expect([...all].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

it("the journal shows an entry by its seq, also if its request id repeats [interfaces 4]", async () => {
  for (let round = 0; round < 2; round++) {
    await api.call("ada", "GET", "/v1/threads");
    await api.call("ada", "DELETE", "/v1/threads/thread_ada");
    await history.rewind((await history.newest("?kind=request")).id);
  }
  const { journal } = await listSeqs();
  for (const { seq, method } of journal)
    expect((await api.call(undefined, "GET", `${JOURNAL}/${seq}`)).body).toMatchObject({ seq, method });
});
