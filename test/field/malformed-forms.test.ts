import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createSandbox } from "../../src/client/engine.ts";
import { type Api, KEYS, startReference } from "../support/harness.ts";

vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 });

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

const TYPE = "multipart/form-data; boundary=edge";

async function upload(body: string | Buffer, type = TYPE) {
  const response = await fetch(`${api.url}/v1/organizations/org_acme/files/upload`, {
    method: "POST",
    headers: { "api-key": KEYS.dan, "content-type": type },
    body: typeof body === "string" ? Buffer.from(body) : new Uint8Array(body),
  });
  const answer = (await response.json()) as { filename?: string; error?: { message: string } };
  return [response.status, answer.filename ?? answer.error?.message];
}

/** One part with these headers, one byte for each character. */
const makePart = (...head: string[]) =>
  Buffer.from(`--edge\r\n${head.join("\r\n")}\r\n\r\nhello\r\n--edge--\r\n`, "latin1");
const makeNamedPart = (name: string) =>
  makePart(`Content-Disposition: form-data; name="file"; filename="${name}"`, "Content-Type: text/plain");
const makeField = (name: string) =>
  `--edge\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${name}\r\n`;

it("an unknown field of a form is ignored, also if it is sent twice [G09]", async () => {
  for (const fields of [makeField("tag"), makeField("tag").repeat(2), makeField("tags[]").repeat(2)])
    expect(await upload(`${fields}${makeNamedPart("a.txt")}`)).toEqual([201, "a.txt"]);
});

describe("a form that a client built by hand is refused with its mistake", () => {
  it.each(['form-data; filename="a.txt"', "form-data", 'form-data; filename="a.txt"; names="file"'])(
    "if a part has no name: %s",
    async (disposition) => {
      const [status, message] = await upload(makePart(`Content-Disposition: ${disposition}`));
      expect([status, message]).toEqual([422, expect.stringMatching(/a part has no name|file is required/)]);
    },
  );

  it.each([
    ["is missing", 'X-Other: form-data; name="file"; filename="a.txt"'],
    ["is not form-data", 'Content-Disposition: attachment; name="file"; filename="a.txt"'],
    ["quotes an encoded name", 'Content-Disposition: form-data; name="file"; filename*="UTF-8\'\'a.txt"'],
    ["has a broken escape", "Content-Disposition: form-data; name=\"file\"; filename*=UTF-8''a%zz.txt"],
    ["names an unknown encoding", "Content-Disposition: form-data; name=\"file\"; filename*=utf-99''a.txt"],
  ])("if a part's Content-Disposition %s", async (_what, disposition) => {
    for (const more of ["", "--edge--\r\n\r\nan epilogue\r\n\r\n"])
      expect(await upload(Buffer.concat([makePart(disposition), Buffer.from(more)]))).toEqual([
        422,
        "the multipart form cannot be read: Malformed part header",
      ]);
  });

  it("if one of its parts is unreadable, also if the other parts would suffice", async () => {
    const whole = makeNamedPart("a.txt").toString();
    const body = whole.replace(
      "--edge--",
      '--edge\r\nContent-Disposition: name="purpose"\r\n\r\nx\r\n--edge--',
    );
    const [status, message] = await upload(body);
    expect([status, message]).toEqual([422, "the multipart form cannot be read: Malformed part header"]);
    expect(await upload(`${whole}\r\n\r\nan epilogue\r\n\r\nof two parts`)).toEqual([201, "a.txt"]);
  });

  it("if it has more than 100 parts", async () => {
    const listFields = (count: number) =>
      Array.from({ length: count }, (_, i) => makeField(`note${i}`)).join("");
    expect(await upload(`${listFields(99)}${makeNamedPart("a.txt")}`)).toEqual([201, "a.txt"]);
    expect((await upload(`${listFields(100)}${makeNamedPart("a.txt")}`))[0]).toBe(413);
  });

  it("if its Content-Type has no boundary, with what to do", async () => {
    expect(await upload(makeNamedPart("a.txt"), "multipart/form-data")).toEqual([
      422,
      "the multipart form cannot be read: its Content-Type has no boundary; let the HTTP client set this header",
    ]);
  });

  it("if its Content-Type names another boundary than its parts have", async () => {
    for (const type of ["multipart/form-data; boundary=other", 'multipart/form-data; boundary="other"'])
      expect(await upload(makeNamedPart("a.txt"), type)).toEqual([
        422,
        "the multipart form cannot be read: no part begins with --other, the boundary of its Content-Type",
      ]);
  });

  it("if its lines do not end with CR and LF", async () => {
    const [status, message] = await upload(makeNamedPart("a.txt").toString().replaceAll("\r\n", "\n"));
    expect([status, message]).toEqual([422, expect.stringContaining("lines must end with CR and LF")]);
  });
});

it.each([
  ["a semicolon after its boundary", "boundary=edge;", "edge"],
  ["spaces around its boundary", "boundary=edge ; charset=utf-8", "edge"],
  ["a boundary that should be in quotes", "boundary=edge/1:2=3,(4)", "edge/1:2=3,(4)"],
  ["a boundary in quotes with a space", 'charset=utf-8; boundary="edge 1"', "edge 1"],
])("a form with %s is read in every host: %s [G13, RFC 2046 5.1.1]", async (_what, parameters, boundary) => {
  const type = `multipart/form-data; ${parameters}`;
  const body = makeNamedPart("a.txt").toString().replaceAll("--edge", `--${boundary}`);
  expect(await upload(body, type)).toEqual([201, "a.txt"]);
  const sandbox = await createSandbox();
  const headers = { "api-key": KEYS.dan, "content-type": type };
  const path = "/v1/organizations/org_acme/files/upload";
  const answer = await sandbox.fetch(path, { method: "POST", headers, body });
  expect([answer.status, await answer.json()]).toMatchObject([201, { filename: "a.txt" }]);
  await sandbox.close();
});

describe("a file's name in a form", () => {
  it.each([
    ["UTF-8", Buffer.from("Zürich – 東京.txt").toString("latin1"), "Zürich – 東京.txt"],
    ["Windows-1252", "Z\xfcrich \x96 5 \x80.txt", "Zürich – 5 €.txt"],
    [
      "UTF-8, with the sign for a lost character",
      Buffer.from("a\ufffd.txt").toString("latin1"),
      "a\ufffd.txt",
    ],
    ["the form of browsers, which encode quotes and line ends", "a%22b%0d%0A%0.txt", 'a"b\r\n%0.txt'],
  ])("keeps its characters if it was sent in %s", async (_encoding, bytes, name) => {
    expect(await upload(makeNamedPart(bytes))).toEqual([201, name]);
  });
});
