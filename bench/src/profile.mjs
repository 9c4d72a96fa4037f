// npm run bench -- profile get: shows where one call spends time and allocates memory.
import { mkdirSync, writeFileSync } from "node:fs";
import { CALLS, startForCalls, toHeaders } from "./calls.mjs";
import { openClient, runInParallel } from "./client.mjs";
import { stopAll } from "./server-process.mjs";

const WARM_UP = 6000;
const REQUESTS = 15_000;
const WIDTH = 32;
const SHOWN = 30;

/** Profiles one of CALLS, prints the first lines and saves the profiles. Resolves with an exit code. */
export async function profile([name = "get"]) {
  const call = CALLS.find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (call === undefined) {
    console.error(
      `Unknown call: ${name}. Known are ${CALLS.map((one) => JSON.stringify(one.name)).join(", ")}`,
    );
    return 2;
  }
  const server = await startForCalls();
  const send = createSender(server, call);
  await runInParallel(WARM_UP, WIDTH, send);
  await server.ask("startCpu");
  await runInParallel(REQUESTS, WIDTH, send);
  keep("cpu", "cpuprofile", { name, unit: "us", answer: await server.ask("cpu") });
  for (const survivors of [false, true]) {
    await server.ask("memory");
    await server.ask("startAllocations", { survivors });
    await runInParallel(REQUESTS, WIDTH, send);
    const answer = await server.ask("allocations");
    keep(survivors ? "surviving" : "allocated", "heapprofile", { name, unit: "bytes", answer });
  }
  await stopAll();
  return 0;
}

function createSender(server, { path, method = "get", as, bodies = [undefined], status, ...call }) {
  const api = openClient(server.url, toHeaders({ path, as, ...call }, server));
  let sent = 0;
  return () => {
    const body = bodies[sent++ % bodies.length];
    return method === "get"
      ? api.get(path, { ok: [status, 200] })
      : api.post(path, body, { ok: [status, 200] });
  };
}

function keep(what, extension, { name, unit, answer: { total, top, profile } }) {
  const folder = new URL("../results/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  const file = new URL(`${name.replaceAll(" ", "-").toLowerCase()}-${what}.${extension}`, folder);
  writeFileSync(file, JSON.stringify(profile));
  console.log(
    `\n${what}: ${(total / REQUESTS).toFixed(1)} ${unit} a request; ${file.pathname} opens in Chromium's DevTools`,
  );
  for (const [place, amount] of top.slice(0, SHOWN)) {
    const share = ((100 * amount) / total).toFixed(1).padStart(5);
    console.log(`${share} %  ${(amount / REQUESTS).toFixed(2).padStart(9)} ${unit}  ${place}`);
  }
}
