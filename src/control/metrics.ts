import type { FleetFigures } from "./directory.ts";
import type { ControlServer } from "./operation.ts";

type Metric = readonly [
  name: string,
  type: "counter" | "gauge",
  help: string,
  value: number | readonly (readonly [labels: Record<string, string | number>, value: number])[],
];

/** Prometheus' text format, version 0.0.4. Labels come from declarations and never from clients. */
export function formatMetrics(server: ControlServer): string {
  const { sandboxes, requestCounter, version, startedAt, directory } = server;
  const { rss, heapUsed } = process.memoryUsage();
  const journals = [...sandboxes.all()].map(({ journal }) => journal);
  const entries = journals.reduce((sum, { size }) => sum + size, 0);
  const dropped = journals.reduce((sum, journal) => sum + journal.dropped, 0);
  const requests = [...requestCounter.rows()].map(([operation, status, count]) => {
    return [{ operation: operation ?? "none", status }, count] as const;
  });
  const uptime = (performance.now() - startedAt) / 1000;
  const figures = directory.getFigures();
  const metrics: Metric[] = [
    ["understudy_info", "gauge", "The server's version.", [[{ version }, 1]]],
    ["understudy_uptime_seconds", "gauge", "Since the server's start.", uptime],
    ["understudy_sandboxes", "gauge", "Sandboxes that exist.", sandboxes.size],
    [
      "understudy_requests_total",
      "counter",
      "Requests to the emulated API by operation and status.",
      requests,
    ],
    ["understudy_journal_entries", "gauge", "Stored journal entries of all sandboxes.", entries],
    [
      "understudy_journal_dropped",
      "gauge",
      "Journal entries of all sandboxes evicted by their limits.",
      dropped,
    ],
    ["process_resident_memory_bytes", "gauge", "Resident memory.", rss],
    ["nodejs_heap_used_bytes", "gauge", "Heap in use.", heapUsed],
    ...(figures === undefined ? [] : formatFleetMetrics(figures)),
  ];
  return metrics.map(toText).join("");
}

/** The metrics of a node of a fleet (interfaces.md 15). */
function formatFleetMetrics({ lease, owned, proxied, taken_over, fenced }: FleetFigures): Metric[] {
  const held = lease === "held" ? 1 : 0;
  return [
    ["understudy_fleet_lease_held", "gauge", "1 while this node may own sandboxes.", held],
    ["understudy_fleet_owned", "gauge", "Sandboxes that this node owns.", owned],
    ["understudy_fleet_proxied_total", "counter", "Requests proxied to other nodes.", proxied],
    ["understudy_fleet_taken_over_total", "counter", "Sandboxes taken over.", taken_over],
    ["understudy_fleet_fenced_total", "counter", "Sandboxes lost to other nodes.", fenced],
  ];
}

function toText([name, type, help, value]: Metric): string {
  const samples = typeof value === "number" ? [[{}, value] as const] : value;
  const lines = samples.map(([labels, count]) => `${name}${formatLabels(labels)} ${count}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function formatLabels(labels: Record<string, string | number>): string {
  const escapeChar = (char: string) => (char === "\n" ? "\\n" : `\\${char}`);
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${String(value).replace(/[\\"\n]/g, escapeChar)}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}
