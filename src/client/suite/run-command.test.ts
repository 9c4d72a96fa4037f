import { describe, expect, it } from "vitest";
import { runCommand } from "./run-command.ts";

describe.runIf(process.platform === "linux")("a command that ends", () => {
  it("leaves no process behind, not even one with a session of its own [interfaces 21]", async () => {
    const { output } = await runCommand(
      ["sh", "-c", "setsid sleep 300 > /dev/null 2>&1 & echo $!; sleep 0.3"],
      {
        ...{ env: {}, timeoutMs: undefined, signal: new AbortController().signal },
      },
    );
    const pid = Number(output);
    const isRunning = () => {
      try {
        process.kill(pid, 0);
        return true;
      } catch {
        return false;
      }
    };
    await expect.poll(isRunning, { timeout: 5000 }).toBe(false);
  });
});
