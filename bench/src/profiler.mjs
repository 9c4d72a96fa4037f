// The part of the probe that uses V8's profilers: allocations, those that outlive the young generation, and time.
// Loaded with the first such question.
import { Session } from "node:inspector/promises";

/**
 * Average number of bytes between two samples: fine enough for some thousand requests, coarse enough to cost little.
 */
const SAMPLING_BYTES = 4096;
const SAMPLING_MICROSECONDS = 200;

const session = new Session();
session.connect();

/** `survivors`: only memory that survived a collection of the young generation, even if it was released later. */
export async function startAllocations({ survivors }) {
  await session.post("HeapProfiler.enable");
  await session.post("HeapProfiler.startSampling", {
    samplingInterval: SAMPLING_BYTES,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: !survivors,
  });
}

/**
 * Returns all bytes, and bytes by allocating function, largest first. Memory that was released since the last
 * collection of the young generation is not included: up to a thousand bytes per request.
 */
export async function stopAllocations() {
  globalThis.gc({ type: "minor" });
  const { profile } = await session.post("HeapProfiler.stopSampling");
  const places = new Map();
  const visit = ({ callFrame, selfSize, children }) => {
    add(places, callFrame, selfSize);
    for (const child of children) visit(child);
  };
  visit(profile.head);
  return { ...summarize(places), profile };
}

export async function startCpu() {
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: SAMPLING_MICROSECONDS });
  await session.post("Profiler.start");
}

/** Returns the microseconds without idle ones, and by function, largest first. */
export async function stopCpu() {
  const { profile } = await session.post("Profiler.stop");
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const places = new Map();
  for (const [index, id] of profile.samples.entries()) {
    const { callFrame } = nodes.get(id);
    if (callFrame.functionName !== "(idle)") add(places, callFrame, profile.timeDeltas[index]);
  }
  return { ...summarize(places), profile };
}

function add(places, { functionName, url, lineNumber }, amount) {
  const file = url.replace(/^.*\/(dist|node_modules|apps)\//, "$1/");
  const name = `${functionName || "(anonymous)"} ${file}${file ? `:${lineNumber + 1}` : ""}`.trim();
  places.set(name, (places.get(name) ?? 0) + amount);
}

function summarize(places) {
  const sorted = [...places].sort(([, a], [, b]) => b - a);
  return { total: sorted.reduce((sum, [, amount]) => sum + amount, 0), top: sorted.slice(0, 40) };
}
