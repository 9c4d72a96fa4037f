import { request } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { openClient } from "../client.mjs";
import { atMost, makeRow } from "../rows.mjs";
import { MB } from "../statistics.mjs";
import { asAda, startUnderstudy } from "../subjects/understudy.mjs";

export const about = "memory while 1 GB is uploaded";

const SIZE = 1024 * MB;

export async function measure({ log }) {
  const server = await startUnderstudy({ probe: true });
  const api = openClient(server.url, asAda);
  await upload(api, MB);
  const before = (await server.ask("memory")).rss;
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, server.memory());
  }, 20);
  log("uploading 1 GB");
  const start = performance.now();
  await upload(api, SIZE);
  const seconds = (performance.now() - start) / 1000;
  clearInterval(watch);
  await Promise.all([api.close(), server.stop()]);
  const more = Math.max(0, peak - before) / MB;
  return [
    makeRow({
      what: "peak memory while 1 GB is uploaded",
      value: more,
      unit: "MB more",
      goal: atMost(50, "MB"),
    }),
    makeRow({ what: "speed of that upload", value: SIZE / MB / seconds, unit: "MB/s" }),
  ];
}

async function upload(api, size) {
  const announced = { filename: "bench.bin", file_size: size, mime_type: "application/octet-stream" };
  const { upload_url: url } = await api.post("/v1/organizations/org_acme/files/upload-url", announced);
  const headers = { "content-type": announced.mime_type, "content-length": size };
  const req = request(url, { method: "PUT", headers, agent: false });
  const answered = new Promise((resolve, reject) => {
    req.once("response", resolve);
    req.once("error", reject);
  });
  await Promise.all([pipeline(Readable.from(createPieces(size)), req), answered]);
  const { statusCode } = await answered;
  if (statusCode !== 200) throw new Error(`the upload answered ${statusCode}`);
}

function* createPieces(size) {
  const piece = Buffer.alloc(256 * 1024, "understudy ");
  for (let left = size; left > 0; left -= piece.length)
    yield left < piece.length ? piece.subarray(0, left) : piece;
}
