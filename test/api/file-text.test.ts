import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Api, startReference } from "../support/harness.ts";
import { toPdf } from "../support/to-pdf.ts";
import { createFileForm, uploadFile } from "../support/upload-setup.ts";

const FILES = "/v1/organizations/org_acme/files";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const upload = (form: FormData) => api.call("dan", "POST", `${FILES}/upload`, form);

describe("the text of files", () => {
  async function quote(file_id: string, question: string): Promise<string> {
    const answer = await api.call("dan", "POST", "/v1/model/response", {
      model: "atlas-large",
      inputs: [{ role: "user", content: question, files: [{ file_id }] }],
    });
    expect(answer.status, answer.text).toBe(200);
    return answer.body.output[0].content[0].text;
  }

  it.each([
    [
      "text/plain",
      "a.txt",
      "The pump runs at night. The valve opens at six.",
      "valve",
      "The valve opens at six.",
    ],
    [
      "text/markdown",
      "a.md",
      "# Pumps\n\n- Red pumps are old\n- Green pumps are new",
      "green",
      "Green pumps are new",
    ],
    ["text/csv", "a.csv", "part,price\nvalve,12.50\npump,99.00", "pump", "pump,99.00"],
    [
      "application/json",
      "a.json",
      '{"parts": [{"name": "valve"}, {"name": "pump", "price": 99}]}',
      "pump",
      "parts name: pump",
    ],
    [
      "text/html; charset=utf-8",
      "a.html",
      "<title>Parts</title><style>p{}</style><script>var valve='never';</script><p>The <b>pump</b> runs.</p><table><tr><td>Valve&nbsp;B<td>12&thinsp;CHF",
      "valve",
      "Valve B 12 CHF",
    ],
    [
      "application/xml",
      "a.xml",
      "<?xml version='1.0'?><parts><part><name>pump</name></part><part><name>valve &amp; seal</name></part></parts>",
      "valve",
      '"valve & seal"',
    ],
    [
      "text/csv",
      "rows.csv",
      'part,note\r\npump,"St. Gallen. Second\nline, of 3"\r\nvalve,none\r\n',
      "Gallen",
      'pump,"St. Gallen. Second line, of 3"',
    ],
    [
      "text/plain",
      "japanese.txt",
      "ポンプは夜に動きます。バルブは六時に開きます。",
      "バルブはいつ開きますか",
      '"バルブは六時に開きます。"',
    ],
    ["application/octet-stream", "typed-by-name.html", "<p>The valve<br>opens.", "valve", '"The valve"'],
    [
      "application/pdf",
      "a.pdf",
      toPdf(["The pump runs at night.", "The valve opens at six."]),
      "valve",
      "The valve opens at six.",
    ],
  ])(
    "of type %s is quoted by its best passage after either kind of upload [G20]",
    async (mime_type, filename, content, question, passage) => {
      const resumable = await uploadFile(api, content, { mime_type, filename });
      const simple = await upload(createFileForm(content, { name: filename, type: mime_type }));
      for (const id of [resumable.id, simple.body.id]) expect(await quote(id, question)).toContain(passage);
    },
  );

  it("exists for files of the fixture, unless their type has none [G20]", async () => {
    expect(await quote("file_handbook", "How many days of vacation?")).toContain("27 days of paid vacation");
    expect(await quote("file_policies", "What about passwords?")).toContain("password manager");
    expect(await quote("file_broken", "What is in it?")).not.toContain("broken.bin:");
  });

  it("is missing if the bytes are not text, and the file is still registered [G20]", async () => {
    for (const [mime_type, filename] of [
      ["application/pdf", "broken.pdf"],
      ["image/png", "picture.png"],
      ["application/json", "broken.json"],
    ] as const) {
      const answer = await upload(
        createFileForm(new Uint8Array([0, 255, 254, 1, 2, 3]), { name: filename, type: mime_type }),
      );
      expect(answer.status, answer.text).toBe(201);
      expect(await quote(answer.body.id, "What is in it?")).not.toContain(`${filename}:`);
    }
  });

  it("is quoted for one rare word of the question, not for several common ones [G34]", async () => {
    const filler = Array.from(
      { length: 40 },
      (_, n) => `The pump of the plant runs on day ${n} of the year.`,
    );
    const file = await uploadFile(api, [...filler, "The gasket costs 4 francs."].join("\n"));
    expect(await quote(file.id, "What is the price of the gasket of the pump of the plant?")).toContain(
      "The gasket costs 4 francs.",
    );
  });

  it("is quoted for each of several attached files [G34]", async () => {
    const one = await uploadFile(api, "The pump runs at night. It hums.", { filename: "one.txt" });
    const two = await uploadFile(api, "Nothing here. Pumps are red.", { filename: "two.txt" });
    const empty = await uploadFile(api, " ", { filename: "blank.txt" });
    const answer = await api.call("dan", "POST", "/v1/model/response", {
      model: "atlas-large",
      inputs: [
        {
          role: "user",
          content: "What of the pump?",
          files: [one, empty, two, one].map(({ id }) => ({ file_id: id })),
        },
      ],
    });
    const { text } = answer.body.output[0].content[0];
    expect(text).toContain('one.txt: "The pump runs at night."');
    expect(text).toContain('two.txt: "Pumps are red."');
    expect(text).not.toContain("blank.txt");
    expect(text.match(/one\.txt/g)).toHaveLength(1);
  });

  it("is also in a fork [G20]", async () => {
    const file = await uploadFile(api, "The valve opens at six.");
    const { sandboxes } = api.understudy;
    sandboxes.fork(sandboxes.get("default")!, "twin");
    const answer = await api.call("dan", "POST", "/_s/twin/v1/model/response", {
      model: "atlas-large",
      inputs: [{ role: "user", content: "valve", files: [{ file_id: file.id }] }],
    });
    expect(answer.body.output[0].content[0].text).toContain("The valve opens at six.");
  });
});
