import { afterAll, beforeAll } from "vitest";
import { type Api, startReference } from "./harness.ts";
import { removeTempFolders } from "./run-understudy.ts";

/** Starts one server for all tests of a file, before the first, and afterwards removes the tests' folders. */
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
