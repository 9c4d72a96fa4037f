import { setTimeout as sleep } from "node:timers/promises";
import type { SandboxClient } from "../../src/client/sandbox.ts";
import { createClient, type Flaws } from "./client.ts";

/* Tasks of the clients in these tests. */

const WEBHOOK = { url: "http://127.0.0.1:9/hook", events: ["user.created"] };
const LIST = "/v1/assistants/asst_helper/history";
const SENTENCES = "/v1/audio/transcribe/trans_redacted/sentences";
const CHANGE_LOGS = "/v1/organizations/org_acme/dashboard/change-logs";
const UPLOADS = "/v1/organizations/org_acme/files/upload-url";

type Call = ReturnType<typeof createClient>["call"];
export type Work = (sandbox: SandboxClient, flaws: Flaws, signal: AbortSignal) => Promise<unknown>;

const openClient = (sandbox: SandboxClient, flaws: Flaws, signal: AbortSignal) =>
  createClient(sandbox, sandbox.credentials.usr_ada, flaws, signal);

/** Reads, creates and reads again. */
export const performTasks: Work = async (sandbox, flaws, signal) => {
  const { call } = openClient(sandbox, flaws, signal);
  await call("GET", "/v1/models");
  await call("POST", "/webhooks", WEBHOOK);
  await call("GET", "/v1/models");
};

/** Reads a list, adds to it, and expects the addition in it. */
export const readAddition: Work = async (sandbox, flaws, signal) => {
  const { call } = openClient(sandbox, flaws, signal);
  const list = async () => (await call("GET", "/webhooks")).data.length;
  const before = await list();
  await call("POST", "/webhooks", WEBHOOK);
  if ((await list()) <= before) throw new Error("the webhook is not in the list");
};

export const readTwice: Work = async (sandbox, flaws, signal) => {
  const { call } = openClient(sandbox, flaws, signal);
  await call("GET", SENTENCES);
  await call("GET", SENTENCES);
};

/** Each user has a client, which knows the ETags of its own answers. */
export const readAsTwo: Work = async (sandbox, flaws, signal) => {
  for (const user of ["usr_ada", "usr_dan"] as const)
    await createClient(sandbox, sandbox.credentials[user], flaws, signal).call("GET", SENTENCES);
};

/** Users of two organizations read their lists, one of which is empty. */
export const readOwnLists: Work = async (sandbox, flaws, signal) => {
  for (const [user, length] of [
    ["usr_ada", 1],
    ["usr_eve", 0],
  ] as const) {
    const { data } = await createClient(sandbox, sandbox.credentials[user], flaws, signal).call(
      "GET",
      "/webhooks",
    );
    if (data.length !== length) throw new Error(`${user} got another organization's list`);
  }
};

export const create: Work = (sandbox, flaws, signal) =>
  openClient(sandbox, flaws, signal).call("POST", "/webhooks", WEBHOOK);

export const readAtOnce: Work = async (sandbox, flaws, signal) => {
  const { call } = openClient(sandbox, flaws, signal);
  await Promise.all([call("GET", "/v1/models"), call("GET", "/v1/models")]);
};

/** Creates two equal webhooks, and reports at the end which of them failed. */
export const createTwo: Work = async (...client) => {
  const results = [];
  for (let i = 0; i < 2; i += 1) results.push(...(await Promise.allSettled([create(...client)])));
  for (const result of results) if (result.status === "rejected") throw result.reason;
};

/** Reads by a POST before it creates something. */
export const createAfterSearch: Work = async (sandbox, flaws, signal) => {
  await openClient(sandbox, flaws, signal).call("POST", CHANGE_LOGS, {});
  await create(sandbox, flaws, signal);
};

/** Sends a form, which has another boundary each time. */
export const uploadForm: Work = async (sandbox, flaws, signal) => {
  const body = new FormData();
  body.set("file", new Blob(["hello"], { type: "text/plain" }), "a.txt");
  const headers = { "api-key": sandbox.credentials.usr_ada };
  const send = async () => {
    const path = "/v1/organizations/org_acme/files/upload";
    const answer = await fetch(sandbox.url + path, { method: "POST", headers, body, signal });
    if (answer.status >= 400) throw new Error(`${answer.status}`);
  };
  await send().catch((error) => {
    if (!flaws.blindRepeat) throw error;
    return send();
  });
};

export const readTogether: Work = async (sandbox, flaws, signal) => {
  const { call } = openClient(sandbox, flaws, signal);
  await call("GET", "/v1/models");
  await Promise.all(Array.from({ length: 4 }, () => call("GET", "/v1/models")));
};

/** @returns a function that sends the next part of a file, or asks how much has arrived; it returns whether it is done */
async function beginUpload(parts: number, ...[sandbox, flaws, signal]: Parameters<Work>) {
  const { call } = openClient(sandbox, flaws, signal);
  const bytes = new Uint8Array(parts * 256 * 1024).fill(65);
  const file = { filename: "a.txt", mime_type: "text/plain", file_size: bytes.length };
  const { upload_url } = await call("POST", UPLOADS, file);
  const put = async (from: number, to: number) => {
    const part = bytes.subarray(from, to);
    const range = part.length === 0 ? "*" : `${from}-${to - 1}`;
    const headers = { "content-range": `bytes ${range}/${bytes.length}` };
    const answer = await fetch(upload_url, { method: "PUT", signal, headers, body: part });
    await answer.arrayBuffer();
    return answer;
  };
  if (flaws.probesFirst) await put(0, 0).catch(() => {});
  let at = 0;
  let isBroken = false;
  return async () => {
    if (isBroken) {
      const { status, headers } = await put(0, 0);
      at =
        status === 308 ? Number(/-(\d+)$/.exec(headers.get("range") ?? "-0")?.[1] ?? -1) + 1 : bytes.length;
      isBroken = false;
    } else {
      const end = Math.min(bytes.length, at + 256 * 1024);
      try {
        await put(at, end);
        at = end;
      } catch {
        isBroken = !flaws.restartsUpload;
      }
    }
    return at === bytes.length;
  };
}

export const upload: Work = async (...client) => {
  const goOn = await beginUpload(2, ...client);
  while (!(await goOn()));
};

/** Uploads two files, a part of each in turn. */
export const uploadTwo: Work = async (...client) => {
  let uploads = [await beginUpload(2, ...client), await beginUpload(3, ...client)];
  while (uploads.length > 0) {
    const unfinished = [];
    for (const goOn of uploads) if (!(await goOn())) unfinished.push(goOn);
    uploads = unfinished;
  }
};

/** Uploads the whole file in one request. The service answers a second registration of the same upload as the first. */
export const register: Work = async (sandbox, flaws, signal) => {
  const { call } = openClient(sandbox, flaws, signal);
  const file = { filename: "a.txt", mime_type: "text/plain", file_size: 10 };
  const { upload_url, gcs_path } = await call("POST", UPLOADS, file);
  const put = () => fetch(upload_url, { method: "PUT", signal, body: "0123456789" });
  await put().catch(put);
  await call("POST", UPLOADS.replace("/upload-url", ""), { ...file, gcs_path });
};

/** The service refuses a second job of a connection while the first one runs. */
export const startJob: Work = (sandbox, flaws, signal) => {
  const job = { connection_id: "conn_wiki", job_type: "sync" };
  return openClient(sandbox, flaws, signal).call(
    "POST",
    "/v1/organizations/org_acme/knowledge/connectors/jobs",
    job,
  );
};

/** Reads pages of two items; `readPage` returns the total. */
function readWith(readPage: (call: Call, offset: number, limit: number) => Promise<number>): Work {
  return async (sandbox, { pages, ...flaws }, signal) => {
    const { call } = openClient(sandbox, flaws, signal);
    const limit = 2;
    for (let offset = 0; ; offset += limit + (pages === "gap" ? 1 : 0)) {
      const total = await readPage(call, offset, limit);
      if (offset === { twice: limit, "first twice": 0 }[pages as string]) await readPage(call, offset, limit);
      if (offset + limit >= total || (pages === "stops" && offset > 0)) return;
    }
  };
}

export const readPages = readWith(async (call, offset, limit) => {
  const { pagination } = await call("GET", `${LIST}?limit=${limit}&offset=${offset}`);
  return pagination.total;
});

export const readSentencePages = readWith(async (call, offset, limit) => {
  const { metadata } = await call("GET", `${SENTENCES}?limit=${limit}&offset=${offset}`);
  return metadata.total_count;
});

export const readChangeLogPages = readWith(async (call, skip, take) => {
  const { total_count } = await call("POST", CHANGE_LOGS, { skip, take });
  return total_count;
});

/** Asks for the first page without parameters, and refuses an entry that comes twice. */
export const readPagesAfterDefault: Work = async (sandbox, flaws, signal) => {
  const { call } = openClient(sandbox, flaws, signal);
  const { audit_logs, pagination } = await call("GET", LIST);
  const seen = new Set(audit_logs.map(({ id }: { id: string }) => id));
  while (seen.size < pagination.total) {
    const page = await call("GET", `${LIST}?offset=${seen.size}`);
    for (const { id } of page.audit_logs) {
      if (seen.has(id)) throw new Error(`the entry ${id} came twice`);
      seen.add(id);
    }
  }
};

/** Reads the first page to learn the total, and then the last page first, as they may arrive if requested together. */
export const readPagesBackwards: Work = async (sandbox, flaws, signal) => {
  const { call } = openClient(sandbox, flaws, signal);
  const { pagination } = await call("GET", `${LIST}?limit=2&offset=0`);
  const last = Math.floor((pagination.total - 1) / 2) * 2;
  for (let offset = last; offset > 0; offset -= 2) await call("GET", `${LIST}?limit=2&offset=${offset}`);
};

/** Asks for the total, and then for pages of fifty items and for the rest. */
export const readRest: Work = async (sandbox, flaws, signal) => {
  const { call } = openClient(sandbox, flaws, signal);
  const { pagination } = await call("GET", `${LIST}?limit=1&offset=0`);
  for (let offset = 0; offset < pagination.total; offset += 50)
    await call("GET", `${LIST}?limit=${Math.min(50, pagination.total - offset)}&offset=${offset}`);
};

export const readPagesAgain: Work = async (sandbox, flaws, signal) => {
  await readPages(sandbox, flaws, signal);
  await readPages(sandbox, flaws, signal);
  await create(sandbox, flaws, signal);
  await readPages(sandbox, flaws, signal);
};

/** Runs for ever like a server, and ignores errors. */
export const serve: Work = async (sandbox, flaws, signal) => {
  await performTasks(sandbox, flaws, signal).catch(() => {});
  await sleep(60_000, undefined, { signal });
};

/** Ignores the error of its first request, and continues. */
export const ignoreError: Work = async (sandbox, flaws, signal) => {
  await openClient(sandbox, { ...flaws, pause: () => undefined }, signal)
    .call("GET", "/v1/models")
    .catch(() => {});
  await create(sandbox, flaws, signal);
};

/** Runs for ever like a server, without retries. */
export const waitForever: Work = async (sandbox, flaws, signal) => {
  await openClient(sandbox, { ...flaws, pause: () => undefined }, signal)
    .call("GET", "/v1/models")
    .catch(() => {});
  await sleep(60_000, undefined, { signal });
};
