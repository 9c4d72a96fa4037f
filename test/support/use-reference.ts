import { afterAll, beforeAll } from "vitest";
import { type Api, startReference } from "./harness.ts";
import { removeTempFolders } from "./run-understudy.ts";

/** One server for all commands that a file runs; with it go the folders of its tests. Filled before the first of them. */
export function useReference(options: Parameters<typeof startReference>[0] = {}): Api {
  const api = {} as Api;
  beforeAll(async () => {
    Object.assign(api, await startReference(options));
  });
  afterAll(async () => {
    await api.close();
    removeTempFolders();
  });
  return api;
}
