import { base, headers, jittered, work } from "./work.mjs";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function send(method, path, body) {
  for (let retry = 0; ; retry += 1) {
    const last = retry === 4 || method !== "GET";
    let wait = jittered(retry);
    try {
      const answer = await fetch(base + path, {
        method,
        redirect: "error",
        signal: AbortSignal.timeout(3000),
        headers: { ...headers, ...(body && { "content-type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
      });
      if (answer.ok) return await answer.json();
      if (last || (answer.status !== 429 && answer.status < 500))
        throw Object.assign(new Error(`HTTP ${answer.status}`), { final: true });
      wait = Math.max(wait, Number(answer.headers.get("retry-after") ?? 0) * 1000);
    } catch (error) {
      if (last || error.final) throw error;
    }
    await pause(wait);
  }
}
await work(send);
