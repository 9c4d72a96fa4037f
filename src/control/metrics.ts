import type { FleetFigures } from "./directory.ts";
import type { ControlServer } from "./operation.ts";

interface Metric {
  name: string;
  type: "counter" | "gauge";
  help: string;
  samples: { labels?: Record<string, string | number>; value: number }[];
}

/** Prometheus' text format, version 0.0.4. Labels come from declarations and never from clients. */
export function metricsText(server: ControlServer): string {
  const { sandboxes, tally, version, started } = server;
  const memory = process.memoryUsage();
  const all = [...sandboxes.all()];
  const one = (value: number) => [{ value }];
  const metrics: Metric[] = [
    {
      name: "understudy_info",
      type: "gauge",
      help: "The server's version.",
      samples: [{ labels: { version }, value: 1 }],
    },
    {
      name: "understudy_uptime_seconds",
      type: "gauge",
      help: "Since the server began.",
      samples: one((performance.now() - started) / 1000),
    },
    {
      name: "understudy_sandboxes",
      type: "gauge",
      help: "Sandboxes that exist.",
      samples: one(sandboxes.size),
    },
    {
      name: "understudy_requests_total",
      type: "counter",
      help: "Requests to the emulated API by operation and status.",
      samples: [...tally.rows()].map(({ operation, status, count }) => ({
        labels: { operation, status },
        value: count,
      })),
    },
    {
      name: "understudy_journal_entries",
      type: "gauge",
      help: "Journal entries held, all sandboxes together.",
      samples: one(all.reduce((sum, { journal }) => sum + journal.size, 0)),
    },
    {
      name: "understudy_journal_dropped",
      type: "gauge",
      help: "Journal entries lost to the bounds, all sandboxes together.",
      samples: one(all.reduce((sum, { journal }) => sum + journal.dropped, 0)),
    },
    {
      name: "process_resident_memory_bytes",
      type: "gauge",
      help: "Resident memory.",
      samples: one(memory.rss),
    },
    { name: "nodejs_heap_used_bytes", type: "gauge", help: "Heap in use.", samples: one(memory.heapUsed) },
  ];
  const figures = server.directory.figures();
  if (figures !== undefined) metrics.push(...fleetMetrics(figures));
  return metrics.map(toText).join("");
}

/** interfaces 15. */
function fleetMetrics({ lease, owned, passed_on, taken_over, fenced }: FleetFigures): Metric[] {
  const one = (name: string, type: Metric["type"], help: string, value: number): Metric => ({
    ...{ name: `understudy_fleet_${name}`, type, help },
    samples: [{ value }],
  });
  return [
    one("lease_held", "gauge", "1 while this node may own sandboxes.", lease === "held" ? 1 : 0),
    one("owned", "gauge", "Sandboxes that this node owns.", owned),
    one("passed_on_total", "counter", "Requests passed on to other nodes.", passed_on),
    one("taken_over_total", "counter", "Sandboxes taken over.", taken_over),
    one("fenced_total", "counter", "Sandboxes taken away.", fenced),
  ];
}

function toText({ name, type, help, samples }: Metric): string {
  const lines = samples.map(({ labels, value }) => `${name}${labels ? labelText(labels) : ""} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function labelText(labels: Record<string, string | number>): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) =>
      `${name}="${String(value).replace(/[\\"\n]/g, (char) => (char === "\n" ? "\\n" : `\\${char}`))}"`,
  );
  return `{${pairs.join(",")}}`;
}
