import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type Running, removeScratch, scratch, startCommand } from "../support/run-understudy.ts";

const SURVIVORS = fileURLToPath(new URL("../support/young-generation/survivors.cjs", import.meta.url));
const MB = 1024 * 1024;

const running: Running[] = [];
afterAll(() => {
  for (const { child } of running) child.kill("SIGKILL");
  removeScratch();
});

/** How large the young generation of a server becomes that always has some megabytes in use. */
async function youngGeneration(options: string): Promise<number> {
  const env = { NODE_OPTIONS: `--require="${SURVIVORS}" ${options}` };
  const server = startCommand(["start", "--port", "0"], { cwd: scratch(), env });
  running.push(server);
  return eventually(() => {
    const { stderr } = server.output();
    expect(stderr).toMatch(/young generation of \d+ bytes/);
    return Number(/\d+(?= bytes)/.exec(stderr)![0]);
  });
}

it("quality 1: a server's young generation stays small, unless Node was told how large it may be", async () => {
  const [own, told] = await Promise.all([youngGeneration(""), youngGeneration("--max-semi-space-size=32")]);
  expect(own).toBeLessThanOrEqual(16 * MB);
  expect(told).toBeGreaterThan(16 * MB);
});
