import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";

const RUN = `
import { createSandbox } from "./dist/client/engine.js";
const sandbox = await createSandbox({ seed: 7, settings: { live_meetings: "on" } });
const headers = { "api-key": sandbox.credentials.usr_cleo };
`;

/** Runs a script in its own process. Only the promises that it awaits keep the process alive. */
const runScript = (script: string) =>
  spawnSync(process.execPath, ["--input-type=module", "-e", RUN + script], {
    encoding: "utf8",
    timeout: 60_000,
  });

it.each([
  [
    "in drips",
    `await sandbox.faults.add({ match: { operation: "models.list" }, effect: { wire: "drip", over: "600ms" } });
     const answer = await sandbox.fetch("/v1/models", { headers });
     await answer.json();`,
  ],
  [
    "as a stream",
    `const answer = await sandbox.fetch("/v1/meeting-buddy/sessions/mbsess_live/transcripts/stream", { headers });
     const reader = answer.body.getReader();
     setTimeout(() => sandbox.clock.advance("10m"), 300).unref();
     let seen = "";
     while (seen.split("data:").length <= 3) seen += new TextDecoder().decode((await reader.read()).value);
     await reader.cancel();`,
  ],
])(
  "a script ends before it has read an answer that comes %s [interfaces 17]",
  (_, script) => {
    const { status, stdout, stderr } = runScript(`${script}\nconsole.log("read");\nawait sandbox.close();`);
    expect([status, stdout.trim()], stderr).toEqual([0, "read"]);
  },
  60_000,
);

it("a script cannot end while an answer that it does not read is open [interfaces 17]", () => {
  const { status, stdout } = runScript(
    `await sandbox.fetch("/v1/meeting-buddy/sessions/mbsess_live/transcripts/stream", { headers });
     await sandbox.close();
     console.log("ended");`,
  );
  expect([status, stdout.trim()]).toEqual([0, "ended"]);
}, 60_000);
