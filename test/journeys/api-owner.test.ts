import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { waitUntilPasses } from "../support/eventually.ts";
import { KEYS } from "../support/harness.ts";
import {
  createTempFolder,
  type RunningServer,
  removeTempFolders,
  runCommand,
  startCommand,
  startServer,
} from "../support/run-understudy.ts";
import { playSession } from "../support/traffic/client-session.ts";
import { type RecordingServer, startProxy } from "../support/verify-setup.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** The real service: an Understudy that answers month 13 with 400 and has another name for `keys_exceeded`. */
let service: RunningServer;
let altered: RecordingServer;
beforeAll(async () => {
  service = await startServer(["--quiet", "--clock", "frozen@2026-03-15T12:00:00Z"]);
  altered = await startProxy(service.ready.url, ({ path }, answer) => ({
    ...answer,
    status: path.includes("month=13") && answer.status === 422 ? 400 : answer.status,
    body: answer.body.replace('"keys_exceeded"', '"exceeded"'),
  }));
});
const open: { stop(): Promise<unknown> }[] = [];
afterAll(async () => {
  await Promise.all(open.map((one) => one.stop()));
  await altered.close();
  await service.stop("SIGKILL");
  removeTempFolders();
});

it("a service is recorded, verified, and replaced by a sandbox [interfaces 12]", async () => {
  const folder = createTempFolder();
  const [har, world, weather] = ["traffic.har", "world.yaml", "weather.yaml"].map((name) =>
    join(folder, name),
  );

  const recorder = startCommand(["record", "--target", altered.url, "--out", har!, "--port", "0"]);
  const url = await waitUntilPasses(() => /Call (\S+) instead of/.exec(recorder.output().stdout)![1]!);
  await playSession(url);
  recorder.child.kill("SIGINT");
  expect((await recorder.finished).stdout).toContain("60 exchanges in ");
  for (const key of Object.values(KEYS)) expect(readFileSync(har!, "utf8")).not.toContain(key);

  const checked = await runCommand(["verify", "--har", har!]);
  expect(checked.code).toBe(1);
  expect(checked.stdout).toContain('usage.retrieve_limits: /summary has no "keys_exceeded"');
  expect(checked.stdout).toContain("month=13 answers 400");
  expect(checked.stdout.match(/^FAIL {2}\d/gm)).toHaveLength(3);

  const made = await runCommand(["fixture", "from-har", har!, "--out", world!]);
  expect(made.stderr).toBe("");
  const [, clock, key] = /--clock (\S+); the key is (\S+)\./.exec(made.stdout)!;
  const winds = await runCommand(["scenario", "from-har", har!, "--out", weather!]);
  expect({ code: winds.code, stderr: winds.stderr }).toEqual({ code: 0, stderr: "" });
  expect((await runCommand(["scenario", "check", weather!])).code).toBe(0);

  const double = await startServer(["--quiet", "--fixture", world!, "--clock", clock!]);
  open.push({ stop: () => double.stop("SIGKILL") });
  for (const path of [
    "/v1/models",
    "/v1/music/org_acme/collections/mcoll_ada/tracks",
    "/v1/organizations/org_acme/knowledge/connectors/jobs",
    "/v1/organizations/org_acme/stores/vs_handbook/files/file_handbook/status",
    "/v1/meeting-buddy/sessions/mbsess_standup/transcripts/export?format=srt",
  ]) {
    const answers = [
      fetch(service.ready.url + path, { headers: { "api-key": KEYS.ada } }),
      fetch(double.ready.url + path, { headers: { "api-key": key! } }),
    ];
    const [was, is] = await Promise.all(answers.map(async (answer) => (await answer).text()));
    expect(is, path).toBe(was);
  }

  // Activates the delays and errors of the recording. The error that the recording had in half of its requests is
  // random.
  const windy = await startServer(["--quiet", "--fixture", world!, "--scenario", weather!]);
  open.push({ stop: () => windy.stop("SIGKILL") });
  const listed = await runCommand(["scenario", "list", "--url", windy.ready.url, "--json"]);
  expect(JSON.parse(listed.stdout).items).toContainEqual(
    expect.objectContaining({ name: "weather", active: true }),
  );
  const answer = await fetch(`${windy.ready.url}/v1/dashboards/dsh_gone/share-links/slink_1`, {
    method: "DELETE",
    headers: { "api-key": key! },
  });
  expect(answer.headers.get("x-sandbox-decision")).toMatch(/^(fault:weather\/share-links-revoke|access)/);
  expect(existsSync(har!)).toBe(true);
});
