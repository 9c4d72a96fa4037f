import { expect } from "vitest";
import type { HistoryDetail, HistoryEntry, HistoryPage, RecordChanges } from "../../types/control-api.ts";
import type { Api, ApiResponse } from "./harness.ts";

/** Returns functions that call the history of a sandbox, as a client does. */
export function createHistoryClient(api: Api, sandbox = "default") {
  const control = (method: string, path: string, body?: unknown): Promise<ApiResponse> => {
    const type: Record<string, string> = method === "GET" ? {} : { "content-type": "application/json" };
    return api.call(undefined, method, `/_control/sandboxes/${sandbox}${path}`, body, type);
  };
  /** Makes a call that must succeed. */
  const ok = async (method: string, path: string, body?: unknown) => {
    const answer = await control(method, path, body);
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  };
  const list = async (query = ""): Promise<HistoryPage> => ok("GET", `/history${query}`);
  return {
    control,
    ok,
    list,
    /** Lists entries, oldest first. */
    entries: async (query = ""): Promise<HistoryEntry[]> => (await list(query)).entries.reverse(),
    newest: async (query = ""): Promise<HistoryEntry> => (await list(query)).entries[0]!,
    get: (id: string): Promise<HistoryDetail> => ok("GET", `/history/${id}`),
    changes: (id: string): Promise<RecordChanges> => ok("GET", `/history/${id}/changes`),
    rewind: (id: string, to?: "before" | "after") => ok("POST", `/history/${id}/rewind`, to && { to }),
  };
}
