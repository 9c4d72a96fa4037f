import type { CommandModule } from "yargs";
import { CheckFailed } from "../failure.ts";
import { print, table } from "../output.ts";
import { server, type Target, targetOptions } from "../target.ts";

type Options = Target & { limit: number };

export const fleetCommand: CommandModule = {
  command: "fleet",
  describe: "Look at a fleet of servers that share one Redis",
  builder: (argv) =>
    argv
      .command({
        command: "status",
        describe: "Its nodes, its sandboxes, and who owns which",
        builder: (status) =>
          targetOptions(status)
            .option("limit", {
              type: "number",
              default: 100,
              requiresArg: true,
              describe: "Maximum number of leases, in order of creation",
            })
            .example("$0 fleet status --url http://10.0.0.5:4747", "Any node knows all of them"),
        async handler({ limit, ...target }: Options) {
          const fleet = await server(target).fleet(limit);
          if (fleet.store === null)
            throw new CheckFailed(`the server at ${target.url} stands alone; a node is started with --store`);
          const { total, free } = fleet.sandboxes;
          const nodes = fleet.nodes.map(({ url, version, started_at, owned }) => [
            ...[url, version, started_at, String(owned)],
          ]);
          const leases = fleet.leases.map(({ sandbox, node, epoch }) => [
            ...[sandbox, node ?? "none", String(epoch)],
          ]);
          print(
            target.json,
            fleet,
            [
              `${fleet.nodes.length} node(s) on ${fleet.store}; ${total} sandbox(es), ${free} without an owner`,
              "",
              table(["node", "version", "started", "owns"], nodes),
              "",
              table(["sandbox", "owner", "epoch"], leases),
              ...(leases.length < total ? [`… and ${total - leases.length} more: --limit ${total}`] : []),
            ].join("\n"),
          );
        },
      } as CommandModule<object, Options>)
      .demandCommand(1, "fleet needs an action: status")
      .example("$0 fleet status", "The nodes, and who owns which sandbox"),
  handler: () => {},
};
