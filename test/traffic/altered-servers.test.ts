import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { VerifyOptions } from "../../src/tools/verify/run-verify.ts";
import { removeTempFolders } from "../support/run-understudy.ts";
import { ALTERATIONS } from "../support/traffic/alterations.ts";
import {
  type AlteredServices,
  listReported,
  startAlteredServices,
} from "../support/traffic/altered-services.ts";
import { playSession } from "../support/traffic/client-session.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let services: AlteredServices;
beforeAll(async () => {
  services = await startAlteredServices(playSession);
});
afterAll(async () => {
  await services.close();
  removeTempFolders();
});

/**
 * Selects the check and the answers of its resource, which it needs. A check of headers needs the answers of all
 * resources. The other checks are omitted: they do not help to find the objects of an Understudy.
 */
const selectChecks = (id: string): VerifyOptions["only"] => {
  const needed = id.startsWith("headers/") ? "" : id.slice(0, id.indexOf(".") + 1);
  return (check) => check.id === id || (check.family === "answers" && check.id.startsWith(needed));
};

describe("verify of a service that deviates from the contract in one way", () => {
  it("reports nothing if the service does not deviate [interfaces 12]", async () => {
    expect(listReported(await services.live(undefined, { write: true }))).toEqual([]);
    const report = await services.recorded();
    expect(listReported(report)).toEqual([]);
    expect(report.recorded).toMatchObject({ unknown_paths: 0, other_hosts: 0, not_checked: {} });
    expect(report.recorded!.checked).toBe(report.recorded!.entries);
  });

  it.each(ALTERATIONS)("finds $title [interfaces 12]", async (one) => {
    const [live, recorded] = await Promise.all([
      services.live(one, { write: one.write === true, only: selectChecks(one.live) }),
      services.recorded(one),
    ]);
    expect(listReported(live)).toContain(one.live);
    if (one.har === null) expect(listReported(recorded)).toEqual([]);
    else expect(listReported(recorded)).toContain(one.har);
  });

  it("finds all but one alteration in a recording [interfaces 12]", () => {
    expect(ALTERATIONS.length).toBeGreaterThanOrEqual(30);
    expect(ALTERATIONS.filter(({ har }) => har === null).map(({ title }) => title)).toEqual([
      "200 in place of 304",
    ]);
  });
});
