import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Check } from "../../src/tools/verify/check.ts";
import type { VerifyReport } from "../../src/tools/verify/report.ts";
import { removeTempFolders } from "../support/run-understudy.ts";
import {
  type AlteredServices,
  listReported,
  startAlteredServices,
} from "../support/traffic/altered-services.ts";
import { DEVIATIONS, playJourney } from "../support/traffic/deviations.ts";
import { toIdsToUse } from "../support/verify-setup.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let services: AlteredServices;
beforeAll(async () => {
  services = await startAlteredServices(playJourney);
});
afterAll(async () => {
  await services.close();
  removeTempFolders();
});

/** The objects of a test organization that a full run may use. */
const IDS_TO_USE = toIdsToUse({
  scratch_connection_id: "conn_wiki",
  model: "comet-mini",
  provider: "provider_a",
});
const full = { write: true, idsToUse: IDS_TO_USE };

/** A run that only reads, or one that also writes. */
function verifyLive(one: (typeof DEVIATIONS)[number]): Promise<VerifyReport> {
  // The checks of answers find the objects that other checks need.
  const isNeeded = ({ id }: Check) => id === one.live || id.endsWith("/answer");
  // A difference must be found by a whole run, in which no other check fails.
  const selected = one.specified ? { only: isNeeded } : {};
  return services.live(one, { ...(one.write === true ? full : { write: false }), ...selected });
}

/** The outcome of the check; undefined if it found nothing. */
const findOutcome = ({ checks }: VerifyReport, id: string) => checks.find((one) => one.id === id)?.outcome;

describe("verify of a service [interfaces 12]", () => {
  it("passes a sound service live and in a recording", async () => {
    expect(listReported(await services.live(undefined, full))).toEqual([]);
    const report = await services.recorded();
    expect(listReported(report)).toEqual([]);
    expect(report.recorded).toMatchObject({ unknown_paths: 0, other_hosts: 0, not_checked: {} });
  });

  it("is tested with at least 30 deviations, of which a recording shows nine of ten", () => {
    expect(DEVIATIONS.length).toBeGreaterThanOrEqual(30);
    expect(DEVIATIONS.filter(({ har }) => har !== null).length).toBeGreaterThanOrEqual(
      0.9 * DEVIATIONS.length,
    );
  });

  it.each(DEVIATIONS)("finds live: $title", async (one) => {
    const report = await verifyLive(one);
    expect([findOutcome(report, one.live), report.verdict]).toEqual(
      one.specified ? ["failed", "fail"] : ["differs", "pass"],
    );
  });

  it.each(DEVIATIONS.filter(({ har }) => har !== null))("finds in a recording: $title", async (one) => {
    const report = await services.recorded(one);
    expect([findOutcome(report, one.har!), report.verdict]).toEqual(
      one.specified ? ["failed", "fail"] : ["differs", "pass"],
    );
  });
});
