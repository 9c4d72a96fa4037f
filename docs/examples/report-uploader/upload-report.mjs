// A small application: uploads one file to an organization, and retries temporary failures.
// Needs nothing but Node. Exit code 0: the file is stored, once. 3: the API refused it. 1: it gave up.
//
//   UNDERSTUDY_BASE_URL=http://127.0.0.1:4747 API_KEY=ak_... node upload-report.mjs report.csv

import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

/** How long to wait before each try after the first, in milliseconds. */
const PAUSES = [50, 100, 200, 400];
/** Tests do not want to wait the minute that a rate limit may ask for. */
const LONGEST_PAUSE = Number(process.env.LONGEST_PAUSE_MS ?? 60_000);

/** A refusal of the API that a retry would not change. */
export class Refused extends Error {
  constructor(status, body) {
    const error = body?.error ?? {};
    super(`${status} ${error.code ?? "without a code"}: ${error.message ?? "no message"}`);
    this.status = status;
    this.code = error.code;
  }
}

/** Whether a retry may succeed: the server is down, or the rate limit is reached. */
function isTemporary(status, body) {
  return status >= 500 || (status === 429 && body?.error?.code === "RATE_LIMIT_EXCEEDED");
}

/** One call, retried after temporary failures. Use it only for calls that may be made twice. */
async function call(url, options) {
  for (let attempt = 0; ; attempt++) {
    const pause = PAUSES[attempt];
    let wait = pause;
    try {
      const response = await fetch(url, { ...options, signal: AbortSignal.timeout(5000) });
      const body = await response.json().catch(() => undefined);
      if (response.ok) return body;
      if (pause === undefined || !isTemporary(response.status, body))
        throw new Refused(response.status, body);
      const asked = Number(response.headers.get("retry-after") ?? 0) * 1000;
      wait = Math.min(LONGEST_PAUSE, Math.max(pause, asked));
    } catch (error) {
      if (error instanceof Refused || pause === undefined) throw error;
    }
    await sleep(wait);
  }
}

/** Uploads and registers; registering the same upload again gives the same file, so a lost answer does no harm. */
export async function uploadReport({ base, key, organization, name, bytes }) {
  const files = `${base}/v1/organizations/${organization}/files`;
  const json = { "api-key": key, "content-type": "application/json" };
  const about = { filename: name, file_size: bytes.length, mime_type: "text/csv" };
  const upload = await call(`${files}/upload-url`, {
    method: "POST",
    headers: json,
    body: JSON.stringify(about),
  });
  await call(upload.upload_url, { method: "PUT", headers: { "content-type": "text/csv" }, body: bytes });
  return call(files, {
    method: "POST",
    headers: json,
    body: JSON.stringify({ ...about, gcs_path: upload.gcs_path }),
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const file = process.argv[2];
  try {
    const stored = await uploadReport({
      base: process.env.UNDERSTUDY_BASE_URL ?? "http://127.0.0.1:4747",
      key: process.env.API_KEY ?? "ak_danMemberAcme00000000000000000000000000",
      organization: process.env.ORGANIZATION ?? "org_acme",
      name: basename(file),
      bytes: await readFile(file),
    });
    console.log(`stored as ${stored.id}`);
  } catch (error) {
    console.error(error instanceof Refused ? `refused: ${error.message}` : `gave up: ${error.message}`);
    process.exitCode = error instanceof Refused ? 3 : 1;
  }
}
