import { pluralize } from "../../engine/contract/text.ts";
import { group, NO_SANDBOX, number, serverCommand } from "../command.ts";
import { CheckFailed } from "../failure.ts";
import { formatTable } from "../process.ts";

const status = serverCommand({
  command: "status",
  describe: "Show the nodes, and which node owns each sandbox",
  options: {
    ...NO_SANDBOX,
    limit: number("Maximum number of sandboxes to list, oldest first", { default: 100 }),
  },
  examples: [["$0 fleet status --url http://10.0.0.5:4747", "Any node lists all of them"]],
  async run({ limit, url }, server) {
    const fleet = await server.fleet(limit);
    if (fleet.store === null)
      throw new CheckFailed(`the server at ${url} is not a node of a fleet; start nodes with --store`);
    const { total, free } = fleet.sandboxes;
    const nodes = fleet.nodes.map((node) => [node.url, node.version, node.started_at, String(node.owned)]);
    const leases = fleet.leases.map(({ sandbox, node, epoch }) => [sandbox, node ?? "none", String(epoch)]);
    const text = [
      `${pluralize(fleet.nodes.length, "node")} on ${fleet.store}; ${pluralize(total, "sandbox", "sandboxes")}, ${free} without an owner`,
      "",
      formatTable(["node", "version", "started", "owns"], nodes),
      "",
      formatTable(["sandbox", "owner", "epoch"], leases),
      ...(leases.length < total ? [`… and ${total - leases.length} more: --limit ${total}`] : []),
    ].join("\n");
    return { value: fleet, text };
  },
});

export const fleetCommand = group(
  "fleet",
  "Inspect a fleet of servers that share one Redis",
  [status],
  ["$0 fleet status", "The nodes, and the sandboxes that each owns"],
);
