// The official storage client uploads to the service's URL and resumes uploads itself.
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { IdempotencyStrategy, Storage } from "@google-cloud/storage";
import { base, headers } from "./work.mjs";

const content = randomBytes(3 * 256 * 1024);
const answer = await fetch(`${base}/v1/organizations/org_acme/files/upload-url`, {
  ...{ method: "POST", redirect: "error", signal: AbortSignal.timeout(3000) },
  headers: { ...headers, "content-type": "application/json" },
  body: JSON.stringify({
    filename: "a.bin",
    file_size: content.length,
    mime_type: "application/octet-stream",
  }),
});
if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
const { upload_url } = await answer.json();
const storage = new Storage({
  apiEndpoint: new URL(upload_url).origin,
  projectId: "sandbox",
  retryOptions: { maxRetries: 5, idempotencyStrategy: IdempotencyStrategy.RetryAlways },
});
const file = storage.bucket("understudy").file("a.bin");
await pipeline(
  Readable.from([content]),
  file.createWriteStream({ resumable: true, uri: upload_url, chunkSize: 256 * 1024, validation: false }),
);
