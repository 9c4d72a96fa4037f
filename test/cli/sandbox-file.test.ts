import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { waitUntil } from "../support/eventually.ts";
import { startReference } from "../support/harness.ts";
import { createTempFolder, removeTempFolders, runCommand, startCommand } from "../support/run-understudy.ts";

afterAll(removeTempFolders);

it("open starts a server with the console for a file of `sandbox export` [interfaces 19]", async () => {
  const api = await startReference();
  const file = join(createTempFolder(), "failed.understudy");
  await api.call("dan", "DELETE", "/v1/threads/thread_long");
  const wrote = await runCommand(["sandbox", "export", file, "--url", api.url, "--json"]);
  expect(wrote).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(wrote.stdout)).toMatchObject({ file });
  const again = await runCommand(["sandbox", "export", file, "--url", api.url]);
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("--force") });
  const spaced = join(createTempFolder(), "last run.understudy");
  const { stdout } = await runCommand(["sandbox", "export", spaced, "--url", api.url]);
  expect(stdout).toContain(`understudy open '${spaced}'`);
  await api.close();
  const open = startCommand(["open", file, "--json"]);
  await waitUntil(() => open.output().stdout.includes("}"));
  const ready = JSON.parse(open.output().stdout) as { url: string; console: string };
  expect(ready.console).toBe(`${ready.url}/_console/s/default-2/timeline`);
  const sandbox = await connect(ready.url).open("default-2");
  const { entries } = await sandbox.history.list();
  expect(entries.map(({ subject, kept }) => [subject, kept])).toEqual([["thread_long", true]]);
  expect((await fetch(ready.console)).status).toBe(200);
  open.child.kill("SIGTERM");
  expect((await open.finished).code).toBe(0);
});

it("open prints the keys and the clock of the sandbox in the file, and a call that works there [interfaces 19]", async () => {
  const api = await startReference();
  const file = join(createTempFolder(), "failed.understudy");
  await runCommand(["sandbox", "export", file, "--url", api.url]);
  await api.close();
  const open = startCommand(["open", file]);
  await waitUntil(() => open.output().stdout.includes("Try:"));
  const { stdout } = open.output();
  const [, header = "", url = ""] = /curl -s -H 'api-key: (\S+)' (\S+)/.exec(stdout) ?? [];
  expect(stdout).toContain("clock frozen");
  expect(stdout).toMatch(/API +http:\/\/127\.0\.0\.1:\d+\/_s\/default-2\n/);
  expect(url).toContain("/_s/default-2/v1/");
  expect((await fetch(url, { headers: { "api-key": header } })).status).toBe(200);
  open.child.kill("SIGTERM");
  expect((await open.finished).code).toBe(0);
});

it("open leaves the worlds alone that the folder's configuration saves, and takes no port or fixture from it [interfaces 19]", async () => {
  const api = await startReference();
  const cwd = createTempFolder();
  await runCommand(["sandbox", "export", join(cwd, "failed.understudy"), "--url", api.url]);
  const config = `persist: ./data\nport: ${new URL(api.url).port}\nfixture: ./mine.yaml\nscenario: [receiver-down]\n`;
  writeFileSync(join(cwd, "understudy.config.yaml"), config);
  writeFileSync(join(cwd, "mine.yaml"), "extends: reference\n");
  const open = startCommand(["open", "failed.understudy", "--json"], { cwd });
  await waitUntil(() => open.output().stdout.includes("}") || open.output().stderr !== "");
  expect(open.output().stderr).toBe("");
  const { url } = JSON.parse(open.output().stdout) as { url: string };
  expect(await (await connect(url).open("default")).info()).toMatchObject({
    fixture: "reference",
    scenarios: [],
  });
  expect(existsSync(join(cwd, "data"))).toBe(false);
  open.child.kill("SIGTERM");
  expect((await open.finished).code).toBe(0);
  await api.close();
});

it("open refuses a file of another kind, and a missing one, and starts no server [interfaces 19]", async () => {
  const file = join(createTempFolder(), "notes.understudy");
  writeFileSync(file, "hello");
  expect(await runCommand(["open", file])).toMatchObject({
    ...{ code: 2, stdout: "" },
    stderr: expect.stringContaining("The file was not written by `understudy sandbox export`."),
  });
  expect(await runCommand(["open", `${file}.not`])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("cannot read"),
  });
});
