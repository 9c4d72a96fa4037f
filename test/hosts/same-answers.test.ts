import { expect, it } from "vitest";
import { listDifferences } from "../determinism/differences.ts";
import { exchange, exchangeInProcess, withoutConnection } from "../determinism/exchange.ts";
import { type Answer, type Entry, type Request, readRecording } from "../determinism/recording.ts";
import { type Api, startReference } from "../support/harness.ts";

async function replay(
  send: (place: { fetch: Api["understudy"]["fetch"]; port: number }, request: Request) => Promise<Answer>,
): Promise<Entry[]> {
  const api = await startReference({ seed: 1 });
  try {
    const answered: Entry[] = [];
    for (const { request } of readRecording()) {
      await api.advance(0);
      const place = { fetch: api.understudy.fetch, port: Number(new URL(api.url).port) };
      answered.push({ request, answer: await send(place, request) });
    }
    return answered;
  } finally {
    await api.close();
  }
}

it("300 requests get the same bytes over a socket and in process [interfaces 17]", {
  timeout: 120_000,
}, async () => {
  const overSocket = await replay(({ port }, request) => exchange(port, request));
  const inProcess = await replay(exchangeInProcess);
  const differences = listDifferences(overSocket, inProcess, ({ answer }, other) => [
    withoutConnection(answer),
    withoutConnection(other.answer),
  ]);
  expect(differences.count, differences.report).toBe(0);
});
