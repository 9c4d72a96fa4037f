import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Api, KEYS, startReference } from "../support/harness.ts";
import { drawHalfMask, drawPicture, postUncrop, UNCROP } from "../support/image-setup.ts";
import { runPhp, runRequests } from "../support/real-clients.ts";
import { createTempFolder, removeTempFolders } from "../support/run-understudy.ts";
import { announce, put } from "../support/upload-setup.ts";

vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 });

const ORGANIZATION = "/v1/organizations/org_acme";

let api: Api;
let png: Buffer;
let jpeg: Buffer;
beforeAll(async () => {
  api = await startReference();
  png = await drawPicture(20, 20).png().toBuffer();
  jpeg = await drawPicture(20, 20).jpeg().toBuffer();
});
afterAll(async () => {
  await api.close();
  removeTempFolders();
});

interface RawPart {
  name: string;
  filename?: string;
  type?: string;
  content: string | Uint8Array;
}

/** Sends a form byte for byte as given, in chunks that split it at inconvenient places. */
async function sendForm(path: string, parts: readonly RawPart[], chunk = 7) {
  const pieces = parts.map(({ name, filename, type, content }) => {
    const file = filename === undefined ? "" : `; filename="${filename}"`;
    const line = type === undefined ? "" : `Content-Type: ${type}\r\n`;
    const head = `--edge\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${line}\r\n`;
    return Buffer.concat([Buffer.from(head), Buffer.from(content), Buffer.from("\r\n")]);
  });
  const body = Buffer.concat([...pieces, Buffer.from("--edge--\r\n")]);
  const stream = new ReadableStream({
    start(controller) {
      for (let at = 0; at < body.length; at += chunk) controller.enqueue(body.subarray(at, at + chunk));
      controller.close();
    },
  });
  const headers = { "api-key": KEYS.dan, "content-type": "multipart/form-data; boundary=edge" };
  const sent = { method: "POST", headers, body: stream, duplex: "half" };
  const response = await fetch(api.url + path, sent as RequestInit);
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get("content-type")?.includes("json");
  return { status: response.status, body: isJson ? JSON.parse(bytes.toString()) : undefined };
}

const uncropFields = [
  { name: "organization_id", content: "org_acme" },
  { name: "extend_left", content: "4" },
];
const postRaw = (...files: RawPart[]) =>
  sendForm(UNCROP, [{ name: "provider", content: "provider_a" }, ...uncropFields, ...files]);

const uploadPart = async (part: Omit<RawPart, "name">) => {
  const answer = await sendForm(`${ORGANIZATION}/files/upload`, [{ name: "file", ...part }]);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
};

const STORE = `${ORGANIZATION}/stores/vs_handbook/files`;

/** Uploads the parts to a store, and returns the outcome of each after all processing steps. */
async function processParts(parts: readonly Omit<RawPart, "name">[]): Promise<Record<string, string>> {
  const files = [];
  for (const part of parts) files.push(await uploadPart(part));
  for (const { id } of files)
    expect((await api.call("dan", "POST", STORE, { file_id: id })).status).toBe(202);
  await api.advance(61_000);
  const outcomes: Record<string, string> = {};
  for (const [index, { id }] of files.entries()) {
    const { body } = await api.call("dan", "GET", `${STORE}/${id}/status`);
    const { filename, type = "no type" } = parts[index]!;
    outcomes[`${filename}, ${type}`] = body.error_message ?? body.status;
  }
  return outcomes;
}

const buildOutcomes = (parts: readonly Omit<RawPart, "name">[], outcome: string) =>
  Object.fromEntries(parts.map(({ filename, type = "no type" }) => [`${filename}, ${type}`, outcome]));

describe("a part of a form with a file name and no Content-Type", () => {
  it("is accepted as an image by its bytes, also after other parts", async () => {
    const plain = { name: "image_file", filename: "a.png" };
    expect((await postRaw({ ...plain, content: png })).status).toBe(200);
    expect((await postRaw({ ...plain, filename: "no-extension", content: jpeg })).status).toBe(200);
    const both = [
      { name: "provider", content: "provider_b" },
      { name: "organization_id", content: "org_acme" },
      { ...plain, content: png },
      { name: "mask_file", filename: "mask.png", content: await drawHalfMask(20, 20) },
    ];
    expect((await sendForm(UNCROP, both)).status).toBe(200);
  });

  it("is refused if its bytes are of no known image format", async () => {
    const gif = await drawPicture(20, 20).gif().toBuffer();
    const refused = await postRaw({ name: "image_file", filename: "a.png", content: gif });
    expect([refused.status, refused.body.error.details.value]).toEqual([415, "image/gif"]);
    const text = await postRaw({ name: "image_file", filename: "a.png", content: "no image" });
    expect([text.status, text.body.error.details.field]).toEqual([422, "image_file"]);
    expect(JSON.stringify(text.body)).not.toContain("text/plain");
  });

  it("is not guessed if a type was sent, such as `text/plain`", async () => {
    const refused = await postRaw(
      { name: "image_file", filename: "a.png", type: "text/plain", content: png },
      { name: "other", filename: "b.png", content: png },
    );
    expect([refused.status, refused.body.error.details.value]).toEqual([415, "text/plain"]);
  });

  it.each(["image/*", "*/*", "multipart/form-data"])("is recognized like one of type %s", async (type) => {
    const part = { name: "image_file", filename: "a.png", type };
    expect((await postRaw({ ...part, content: png })).status).toBe(200);
    const parts = [{ filename: "plan.csv", type, content: "part,price\nvalve,12" }];
    expect(await processParts(parts)).toEqual(buildOutcomes(parts, "completed"));
  });

  it("is processed by its name [G34]", async () => {
    const plan = { filename: "plan.csv", content: "part,price\r\n\r\nvalve,12" };
    expect(await uploadPart(plan)).toMatchObject({ mime_type: "application/octet-stream", file_size: 22 });
    expect(await processParts([plan, { filename: "plan.json", content: "{" }])).toEqual({
      "plan.csv, no type": "completed",
      "plan.json, no type": "the file cannot be read as application/json",
    });
  });

  it("is decoded by the charset of its type [G34]", async () => {
    const content = Buffer.from("Gr\xfcezi Z\xfcrich", "latin1");
    const parts = [{ filename: "a.txt", type: "text/plain; charset=iso-8859-1", content }];
    expect(await processParts(parts)).toEqual(buildOutcomes(parts, "completed"));
  });

  it("can be sent by Python's requests with `files={'image_file': open('a.png', 'rb')}`", async (test) => {
    const folder = createTempFolder();
    writeFileSync(join(folder, "a.png"), png);
    const code = `
import json, requests, sys
url, key = sys.argv[1:]
fields = {"provider": "provider_a", "organization_id": "org_acme", "extend_left": "4"}
answer = requests.post(url, headers={"api-key": key}, data=fields, files={"image_file": open("a.png", "rb")})
print(json.dumps([answer.status_code, answer.headers["content-type"]]))`;
    expect(await runRequests(test, code, [api.url + UNCROP, KEYS.dan], folder)).toEqual([200, "image/jpeg"]);
  });
});

describe("a file of an unknown type is recognized by its name", () => {
  const NAMES = [
    ...["notes.yaml", "NOTES.YML", "Cargo.toml", "readme.md", "a.markdown", "a.csv", "a.tsv", "server.log"],
    ...["php.ini", "nginx.conf", "main.py", "app.ts", "app.tsx", "lib.rs", "main.go", "Main.java", "a.c"],
    ...["query.sql", "style.css", "run.sh", "a.rst", "a.srt", "a.vtt", "events.ics", "a.diff", "README"],
    ...["Dockerfile", "Makefile", ".gitignore", "schema.graphql", "a.proto", "mail.eml", "a.tex"],
    ...[
      "report.Rmd",
      "book.qmd",
      "tsconfig.jsonc",
      "de.xlf",
      "track.gpx",
      "App.csproj",
      "a.sol",
      "login.feature",
    ],
  ];
  const JSON_NAMES = ["data.ndjson", "events.jsonl", "map.geojson", "book.ipynb"];

  it("is processed by a store for every text format, such as YAML and source code [G34]", async () => {
    const texts = NAMES.map((filename) => ({ filename, content: "name: reactor, pressure: 12 bar" }));
    const json = JSON_NAMES.map((filename) => ({ filename, content: '{"part": "valve"}' }));
    const parts = [...texts, ...json].map((part) => ({ ...part, type: "application/octet-stream" }));
    expect(await processParts(parts)).toEqual(buildOutcomes(parts, "completed"));
  });

  it("is processed if a system sends another file's type for its name [G34]", async () => {
    const parts = [
      { filename: "main.ts", type: "video/mp2t" },
      { filename: "page.ts", type: "video/vnd.dlna.mpeg-tts" },
      { filename: "plan.csv", type: "application/vnd.ms-excel" },
      { filename: "notes.md", type: "application/x-genesis-rom" },
    ].map((part) => ({ ...part, content: "name: reactor, pressure: 12 bar" }));
    expect(await processParts(parts)).toEqual(buildOutcomes(parts, "completed"));
  });

  it("fails if the bytes are of the type and not of the name [G34]", async () => {
    const parts = [
      { filename: "clip.ts", type: "video/mp2t", content: Buffer.from([0x47, 0x40, 0xff, 0x10, 0xfe]) },
      { filename: "old.xls", type: "application/vnd.ms-excel", content: "part,price" },
      { filename: "a.zip", type: "application/x-zip-compressed", content: "PK" },
    ];
    for (const outcome of Object.values(await processParts(parts))) expect(outcome).not.toBe("completed");
  });

  it("fails if it is not a document [G34]", async () => {
    const parts = ["movie.mp4", "a.zip", "a.unknown", "photo.jpeg"].map((filename) => ({
      filename,
      type: "binary/octet-stream",
      content: "some bytes",
    }));
    expect(await processParts(parts)).toEqual(buildOutcomes(parts, "unsupported file type"));
  });
});

describe("a type under another name", () => {
  it.each([
    ["image/jpg", "jpeg"],
    ["image/pjpeg", "jpeg"],
    ["Image/JPG; q=1", "jpeg"],
    ["IMAGE/PNG", "png"],
    ["image/x-png", "png"],
    ["image/png;charset=binary", "png"],
  ] as const)("is accepted for an image as %s", async (type, format) => {
    const bytes = format === "png" ? png : jpeg;
    const answer = await postRaw({ name: "image_file", filename: "a", type, content: bytes });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  });

  it("is accepted for a mask as image/x-png", async () => {
    const mask_file = { bytes: await drawHalfMask(20, 20), type: "image/x-png", name: "mask.png" };
    const image_file = { bytes: jpeg, type: "image/jpg", name: "a.jpg" };
    expect((await postUncrop(api, { provider: "provider_b", image_file, mask_file })).status).toBe(200);
  });

  it("is refused for a mask that is a JPEG, by either name", async () => {
    const mask_file = { bytes: jpeg, type: "image/jpg", name: "mask.jpg" };
    const image_file = { bytes: jpeg, type: "image/jpg", name: "a.jpg" };
    const answer = await postUncrop(api, { provider: "provider_b", image_file, mask_file });
    expect([answer.status, answer.body.error.details]).toEqual([
      415,
      { field: "mask_file", value: "image/jpg" },
    ]);
  });

  it("is processed for a document [G34]", async () => {
    const parts = [
      ["text/x-markdown", "# Reactor manual"],
      ["application/x-yaml", "part: valve"],
      ["Text/YAML; Charset=UTF-8", "part: valve"],
      ["application/javascript", "let reactor = 1"],
      ["application/x-sh", "echo reactor"],
      ["text/json", '{"part": "valve"}'],
      ["application/csv", "part,price\nvalve,12"],
      ["text/tab-separated-values", "part\tprice\nvalve\t12"],
    ].map(([type, content]) => ({ filename: "a", type: type!, content: content! }));
    expect(await processParts(parts)).toEqual(buildOutcomes(parts, "completed"));
  });

  it("fails for bytes that are not of the type [G34]", async () => {
    const types = ["text/json", "application/x-json", "text/pdf"];
    const parts = types.map((type) => ({ filename: "a", type, content: "{" }));
    const outcomes = await processParts(parts);
    for (const outcome of Object.values(outcomes)) expect(outcome).toMatch(/cannot be read|PDF/);
  });

  it("is announced as image/jpg and registered as image/jpeg [G13]", async () => {
    const { announced, upload_url, gcs_path } = await announce(api, { mime_type: "image/jpg" });
    await put(upload_url, "0123456789");
    const other = { ...announced, gcs_path, mime_type: "image/png" };
    expect((await api.call("dan", "POST", `${ORGANIZATION}/files`, other)).status).toBe(422);
    const same = { ...announced, gcs_path, mime_type: "Image/JPEG" };
    expect((await api.call("dan", "POST", `${ORGANIZATION}/files`, same)).status).toBe(201);
  });

  it("is accepted from PHP's CURLFile as image/jpg", async (test) => {
    const folder = createTempFolder();
    writeFileSync(join(folder, "a.jpg"), jpeg);
    const code = `
[$_, $url, $key] = $argv;
$fields = ["provider" => "provider_a", "organization_id" => "org_acme", "extend_left" => "4"];
$curl = curl_init($url);
curl_setopt_array($curl, [CURLOPT_RETURNTRANSFER => true, CURLOPT_HTTPHEADER => ["api-key: $key"],
  CURLOPT_POSTFIELDS => $fields + ["image_file" => new CURLFile("a.jpg", "image/jpg", "a.jpg")]]);
curl_exec($curl);
echo json_encode([curl_getinfo($curl, CURLINFO_HTTP_CODE), curl_getinfo($curl, CURLINFO_CONTENT_TYPE)]);`;
    expect(await runPhp(test, code, [api.url + UNCROP, KEYS.dan], folder)).toEqual([200, "image/jpeg"]);
  });
});

describe("an answer with text names its charset", () => {
  it("which is UTF-8 for every operation of both APIs", async () => {
    const S = "/_control/sandboxes/default";
    const fork = { name: "charset" };
    await api.call(undefined, "POST", `${S}/fork`, fork);
    const calls: [path: string, type: string][] = [
      [`${ORGANIZATION}/audit-log/export`, "text/csv"],
      ["/v1/meeting-buddy/sessions/mbsess_standup/transcripts/export?format=txt", "text/plain"],
      ["/v1/meeting-buddy/sessions/mbsess_standup/transcripts/export?format=srt", "text/plain"],
      ["/v1/audio/transcribe/trans_short/subtitles/srt", "text/plain"],
      ["/v1/audio/transcribe/trans_short/subtitles/vtt", "text/vtt"],
      ["/v1/meeting-buddy/sessions/mbsess_standup/status/stream", "text/event-stream"],
      ["/_control/metrics", "text/plain; version=0.0.4"],
      [`${S}/coverage.html`, "text/html"],
      [`${S}/journal/stream`, "text/event-stream"],
      [`${S}/history/stream`, "text/event-stream"],
    ];
    for (const [path, type] of calls) {
      const gone = new AbortController();
      const headers = { "api-key": KEYS.ada };
      const response = await fetch(api.url + path, { headers, signal: gone.signal });
      expect([path, response.status, response.headers.get("content-type")]).toEqual([
        path,
        200,
        `${type}; charset=utf-8`,
      ]);
      gone.abort();
    }
  });

  it("which is UTF-8 for receivers and for unknown ones", async () => {
    const { url } = (await api.call(undefined, "POST", "/_control/sandboxes/default/receivers", {})).body;
    for (const [to, status] of [
      [url, 200],
      [`${url}x`, 404],
      [`${api.url}/_receivers/nowhere/rcv_x`, 404],
    ] as const) {
      const response = await fetch(to, { method: "POST", body: "{}" });
      expect([response.status, response.headers.get("content-type")]).toEqual([
        status,
        "application/json; charset=utf-8",
      ]);
    }
  });

  it("so that `Zürich` in an exported CSV is `Zürich` in Python's `.text`", async (test) => {
    await api.call(undefined, "POST", "/_control/sandboxes/default/state/users?actor=usr_ada", {
      name: "Zoë Zürich",
      memberships: { org_acme: "member" },
    });
    const code = `
import json, requests, sys
print(json.dumps("Zoë Zürich" in requests.get(sys.argv[1], headers={"api-key": sys.argv[2]}).text))`;
    const url = `${api.url}${ORGANIZATION}/audit-log/export`;
    expect(await runRequests(test, code, [url, KEYS.ada])).toBe(true);
  });
});
