// Preloaded into a server under test (node --import). Answers questions about the process. Between questions, it only
// costs the event-loop histogram's timer, if that was started.
import { monitorEventLoopDelay } from "node:perf_hooks";

let histogram;
const toMilliseconds = (nanoseconds) => nanoseconds / 1e6;

const answers = {
  memory() {
    globalThis.gc();
    globalThis.gc();
    const { rss, heapUsed, external } = process.memoryUsage();
    return { rss, heapUsed, external, held: heapUsed + external };
  },
  startLoopDelay() {
    histogram?.disable();
    histogram = monitorEventLoopDelay({ resolution: 1 });
    histogram.enable();
  },
  loopDelay() {
    return {
      p50: toMilliseconds(histogram.percentile(50)),
      p99: toMilliseconds(histogram.percentile(99)),
      max: toMilliseconds(histogram.max),
    };
  },
};

/** Questions for profiler.mjs, which is loaded with the first of them. */
const PROFILER = new Set(["startAllocations", "allocations", "startCpu", "cpu"]);

async function answer({ question, details }) {
  if (!PROFILER.has(question)) return answers[question]();
  return (await import("./profiler.mjs"))[question](details ?? {});
}

process.on("message", async (message) => {
  if (message?.bench) process.send({ bench: message.bench, answer: await answer(message) });
});
// The channel must not keep alive a server that should end.
process.channel?.unref();
