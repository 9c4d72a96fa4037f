import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { KEYS } from "../support/harness.ts";
import { createTempFolder, runCommand, startCommand } from "../support/run-understudy.ts";
import { useReference } from "../support/use-reference.ts";
import { type RecordingServer, startProxy, startRecordingServer } from "../support/verify-setup.ts";

const api = useReference();
const open: RecordingServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

const verify = (target: string, ...args: string[]) =>
  runCommand(["verify", "--target", target, "--key", KEYS.ben, ...args]);

describe("verify on the command line", () => {
  it("passes, prints a verdict and writes both reports [interfaces 2]", async () => {
    const folder = createTempFolder();
    const [xml, html] = [join(folder, "verify.xml"), join(folder, "verify.html")];
    const { code, stdout, stderr } = await verify(
      api.url,
      "--write",
      "--report",
      `junit=${xml},html=${html}`,
      "--timeout",
      "9999999",
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("PASS");
    expect(stdout).toContain("deleted it again");
    expect(stdout).toContain("stays; the API has no call that undoes it");
    const junit = readFileSync(xml, "utf8");
    expect(junit).toMatch(/<testsuites name="understudy verify [^"]+" tests="\d{3}" failures="0" errors="0"/);
    expect(junit).toContain("<skipped");
    const page = readFileSync(html, "utf8");
    expect(page).toContain("Pass: contract of");
    expect(page).toContain("G08");
    // The page loads nothing, and its links lead to the console of the server.
    expect(page).not.toMatch(/<script|src=/);
    const links = [...page.matchAll(/href="(http[^"]*)"/g)].map(([, link]) => link!);
    expect(links.length).toBeGreaterThan(0);
    expect(links.filter((link) => !link.startsWith(`${api.url}/_console/`))).toEqual([]);
    for (const text of [stdout, junit, page]) expect(text).not.toContain(KEYS.ben);
  });

  it("prints the whole report with --json [interfaces 2]", async () => {
    const folder = createTempFolder();
    const file = join(folder, "objects.yaml");
    writeFileSync(file, "transcription_id: trans_redacted\n");
    const { code, stdout } = await verify(
      `${api.url}/`,
      "--json",
      "--use",
      file,
      "--use",
      "slug=partner-none",
    );
    expect(code).toBe(0);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({
      verdict: "pass",
      organization_id: "org_acme",
      write: false,
      stopped: null,
    });
    const findCheck = (id: string) => report.checks.find((one: { id: string }) => one.id === id);
    expect(findCheck("transcriptions.list_sentences/answer").requests[0].path).toContain("trans_redacted");
    // A slug that does not resolve proves nothing.
    expect(findCheck("share_links.resolve/answer").outcome).toBe("not-observable");
  });

  it("exits 1 for a departure, and shows the request [interfaces 2]", async () => {
    const spoilt = await startProxy(api.url, ({ path }, answer) =>
      path.includes("month=13") ? { ...answer, status: 400 } : answer,
    );
    open.push(spoilt);
    const { code, stdout } = await verify(spoilt.url);
    expect(code).toBe(1);
    expect(stdout).toContain("answers 400 instead of 422 INVALID_INPUT");
    expect(stdout).toMatch(/month=13 -> 400 \(req_\w+\)/);
    expect(stdout).toContain("FAIL");
  });

  it("exits 1 if nothing answers, and if the key is refused [interfaces 2]", async () => {
    const closed = await startRecordingServer(() => {});
    await closed.close();
    const unanswered = await verify(closed.url);
    expect(unanswered.code).toBe(1);
    expect(unanswered.stderr).toMatch(/^understudy: nothing answers at http/);
    const refused = await runCommand(["verify", "--target", api.url, "--key", KEYS.revoked]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("refuses the key with 401");
    const misspelt = await verify(`${api.url}/_s/nope`);
    expect([misspelt.code, misspelt.stdout]).toEqual([1, ""]);
    expect(misspelt.stderr).toMatch(/\/_s\/nope addresses no sandbox: .*"sandboxes":\["default"\]/);
    expect(refused.stderr).not.toContain(KEYS.revoked);
  });

  it("exits 2 for wrong usage, with one message [interfaces 2]", async () => {
    const nowhere = ["--target", "http://127.0.0.1:1"];
    const cases: [string[], string][] = [
      [["--target", "http://127.0.0.1:1/v1"], "leave the version out"],
      [[...nowhere, "--use", "missing.yaml"], "missing.yaml"],
      [[...nowhere, "--timeout", "0"], "--timeout takes seconds"],
      [[], "target"],
    ];
    const ended = await Promise.all(cases.map(([args]) => runCommand(["verify", "--key", "ak_x", ...args])));
    for (const [i, { code, stderr }] of ended.entries()) {
      expect(stderr).toContain(cases[i]![1]);
      expect(stderr).not.toMatch(/\n\s+at /);
      expect(code).toBe(2);
    }
  });

  it("shows an example with --help [interfaces 2]", async () => {
    const { code, stdout } = await runCommand(["verify", "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("understudy verify --target http");
    expect(stdout).toContain("--write");
  });

  it("stops the checks at Ctrl-C, restores what was changed, and reports [interfaces 2]", async () => {
    let created = false;
    let onListed = () => {};
    const asked = new Promise<void>((resolve) => {
      onListed = resolve;
    });
    const slow = await startProxy(api.url, ({ method, path }, answer) => {
      if (path !== "/webhooks") return answer;
      if (created && method === "GET") {
        // The call after the creation is never answered, so the run is interrupted there.
        onListed();
        return new Promise<never>(() => {});
      }
      created ||= method === "POST" && answer.status === 201;
      return answer;
    });
    open.push(slow);
    const running = startCommand(["verify", "--target", slow.url, "--key", KEYS.ben, "--write", "--json"]);
    await asked;
    running.child.kill("SIGINT");
    const { code, stdout } = await running.finished;
    expect(code).toBe(1);
    const report = JSON.parse(stdout);
    expect(report.stopped).toBe("interrupted");
    const webhook = report.changes.find(({ done }: { done: string }) => done.includes("webhook"));
    expect(webhook).toMatchObject({ undone: true, detail: "deleted it again" });
    expect(
      slow.seen.some(({ method, path }) => method === "DELETE" && path.startsWith("/webhooks/wh_0z")),
    ).toBe(true);
  });

  it("ends at once at a second signal, also if the first was another [interfaces 2]", async () => {
    let onUndo = () => {};
    const undone = new Promise<void>((resolve) => {
      onUndo = resolve;
    });
    let onListed = () => {};
    const asked = new Promise<void>((resolve) => {
      onListed = resolve;
    });
    let created = false;
    const silent = await startProxy(api.url, ({ method, path }, answer) => {
      if (!path.startsWith("/webhooks")) return answer;
      // A check deletes an unknown webhook, too. Signals that arrive together would count as one.
      if (method === "DELETE" && path.startsWith("/webhooks/wh_0z")) onUndo();
      else if (created) onListed();
      created ||= method === "POST" && answer.status === 201;
      return created && method !== "POST" ? new Promise<never>(() => {}) : answer;
    });
    open.push(silent);
    const running = startCommand(["verify", "--target", silent.url, "--key", KEYS.ben, "--write", "--json"]);
    await asked;
    running.child.kill("SIGINT");
    await undone;
    running.child.kill("SIGTERM");
    expect((await running.finished).signal).toBe("SIGTERM");
  });
});
