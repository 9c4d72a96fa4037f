import type { CommandModule } from "yargs";
import { print, table } from "../output.ts";
import { server, type Target, targetOptions } from "../target.ts";

export const statusCommand: CommandModule<object, Target> = {
  command: "status",
  describe: "Show a running server and its sandboxes",
  builder: (argv) => targetOptions(argv).example("$0 status", "What runs at http://127.0.0.1:4747"),
  async handler(target) {
    const client = server(target);
    const health = await client.health();
    const sandbox = await (await client.open(target.sandbox)).info();
    const counts = Object.entries(sandbox.counts).filter(([, count]) => count > 0);
    print(
      target.json,
      { ...health, sandbox },
      [
        `Understudy ${health.version} at ${client.url}, up ${Math.round(health.uptime_seconds)} s, ${health.sandboxes} sandbox(es)`,
        "",
        `${sandbox.name}  ${sandbox.base_url}`,
        `  fixture ${sandbox.fixture}, seed ${sandbox.seed}, clock ${sandbox.clock.mode} at ${sandbox.clock.now}`,
        `  scenarios ${sandbox.scenarios.join(", ") || "none"}`,
        "",
        table(
          ["collection", "records"],
          counts.map(([name, count]) => [name, String(count)]),
        ),
      ].join("\n"),
    );
  },
};
