import { pluralize } from "../../engine/contract/text.ts";
import { serverCommand } from "../command.ts";
import { formatTable } from "../process.ts";

export const statusCommand = serverCommand({
  command: "status",
  describe: "Show a running server and a sandbox",
  examples: [["$0 status", "The server at http://127.0.0.1:4747"]],
  async run({ sandbox: name }, server) {
    const health = await server.health();
    const sandbox = await (await server.open(name)).info();
    const { fixture, seed, clock, scenarios, base_url } = sandbox;
    const counts = Object.entries(sandbox.counts).filter(([, count]) => count > 0);
    const rows = counts.map(([collection, count]) => [collection, String(count)]);
    const text = [
      `Understudy ${health.version} at ${server.url}, up ${Math.round(health.uptime_seconds)} s, ${pluralize(health.sandboxes, "sandbox", "sandboxes")}`,
      "",
      `${sandbox.name}  ${base_url}`,
      `  fixture ${fixture}, seed ${seed}, clock ${clock.mode} at ${clock.now}`,
      `  scenarios ${scenarios.join(", ") || "none"}`,
      "",
      formatTable(["collection", "records"], rows),
    ].join("\n");
    return { value: { ...health, sandbox }, text };
  },
});
