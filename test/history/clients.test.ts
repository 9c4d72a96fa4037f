import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect } from "../../src/client/connect.ts";
import type { SandboxClient } from "../../src/client/sandbox.ts";
import { type Api, startReference } from "../support/harness.ts";
import { removeTempFolders, runCommand, startCommand } from "../support/run-understudy.ts";

let api: Api;
let sandbox: SandboxClient;
beforeEach(async () => {
  api = await startReference();
  sandbox = await connect(api.url).open("default");
});
afterEach(() => api.close());
afterAll(removeTempFolders);

const remove = () => api.call("ada", "DELETE", "/v1/threads/thread_ada");

describe("the history in the library [interfaces 10]", () => {
  it("lists, gets, compares, rewinds, forks, repeats and follows [interfaces 10]", async () => {
    const followed = sandbox.history.follow();
    const coming = followed.next();
    await remove();
    const { entries, total } = await sandbox.history.list({ kind: "request" });
    const [{ id, subject }] = entries as [(typeof entries)[number]];
    expect([total, subject]).toEqual([1, "thread_ada"]);
    expect((await sandbox.history.get(id)).causes).toEqual([]);
    const changes = await sandbox.history.changes(id);
    expect(changes["threads"]).toMatchObject([{ id: "thread_ada", after: null }]);
    expect((await sandbox.history.rewind(id)).restarted_uploads).toEqual([]);
    expect(await sandbox.state("threads").get("thread_ada")).toMatchObject({ id: "thread_ada" });
    const fork = await sandbox.history.fork(id, { name: "branch", to: "after" });
    await expect(fork.state("threads").get("thread_ada")).rejects.toMatchObject({ status: 404 });
    expect(fork.credentials["usr_ada"]).toBe(sandbox.credentials["usr_ada"]);
    expect(await sandbox.history.repeat(id)).toMatchObject({ same: true, differences: [] });
    expect((await coming).value).toMatchObject({ id, kind: "request" });
    await followed.return?.();
  });
});

describe("the history on the command line [interfaces 10]", () => {
  const run = (...args: string[]) => runCommand([...args, "--url", api.url]);

  it("shows a line for each entry, and rewind goes back [interfaces 10]", async () => {
    expect((await run("history")).stdout).toBe("No changes yet.\n");
    await remove();
    const { stdout, code } = await run("history");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^h_1 +2026-03-15T12:00:00\.000Z {2}request {3}usr_ada: .*threads -1/);
    const { entries } = JSON.parse((await run("history", "--json", "--kind", "request")).stdout);
    expect(entries).toHaveLength(1);
    expect((await run("history", "--kind", "timer")).stdout).toBe("No entries match.\n");
    const rewound = await run("rewind", "h_1");
    expect(rewound.stdout).toBe("default is as it was before h_1, at 2026-03-15T12:00:00.000Z.\n");
    const after = (await run("history")).stdout.trimEnd().split("\n");
    expect(after[0]).toMatch(/\[undone\]$/);
    expect(after[1]).toContain("Rewound to before h_1.");
    expect((await run("history", "--limit", "1")).stdout.trimEnd().split("\n")).toHaveLength(1);
    const unknown = await run("rewind", "h_99");
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("has no entry h_99")]);
    expect((await run("history", "--kind", "nothing")).code).toBe(2);
  });

  it("continues with new entries with --follow [interfaces 10]", async () => {
    await remove();
    const follower = startCommand(["history", "--follow", "--url", api.url]);
    const readLines = () => follower.output().stdout.trimEnd().split("\n");
    await expect.poll(() => readLines()[0]).toContain("h_1");
    await api.call(
      undefined,
      "PATCH",
      "/_control/sandboxes/default/state/threads/thread_ben",
      { title: "x" },
      {
        "content-type": "application/json",
      },
    );
    await sandbox.history.rewind("h_1");
    await expect.poll(() => readLines().at(-1)).toContain("Rewound to before h_1.");
    follower.child.kill("SIGINT");
    await follower.finished;
  });
});
