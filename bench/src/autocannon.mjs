// The load generator for a fixed rate, or if wrk is missing. Runs in its own process, so that it can be pinned to a
// core.
import { readFileSync } from "node:fs";
import autocannon from "autocannon";

const {
  url,
  method = "GET",
  paths,
  bodies,
  headers,
  rate,
  seconds,
} = JSON.parse(readFileSync(process.argv[2], "utf8"));
const count = Math.max(paths.length, bodies?.length ?? 0);
const requests = Array.from({ length: count }, (_, index) => ({
  method,
  path: paths[index % paths.length],
  body: bodies?.[index % bodies.length],
}));
const result = await autocannon({
  url,
  connections: 32,
  duration: seconds,
  headers,
  requests,
  overallRate: rate,
});
const failed = result.non2xx + result.errors;
const { total, average: rps } = result.requests;
process.stdout.write(JSON.stringify({ requests: total, rps, p99: result.latency.p99, failed }));
