import { describe, expect, it } from "vitest";
import { API } from "../../src/engine/resources/index.ts";
import { buildOpenApiDocument } from "../../src/tools/reports/openapi.ts";
import { type ApiDocument, renderApiPage } from "./api-page.ts";

const document = buildOpenApiDocument(API, "0.0.0") as unknown as ApiDocument;
type Responses = Record<string, { $ref?: string; "x-error-codes"?: string[] }>;
type Paths = Record<string, Record<string, { responses: Responses }>>;
const shared = document.components.responses as Responses;
const USUAL = ["AUTHENTICATION_REQUIRED", "INVALID_INPUT", "RATE_LIMIT_EXCEEDED"];
const OF_ORGANIZATIONS = ["ORGANIZATION_ACCESS_DENIED", "ORGANIZATION_NOT_FOUND"];
const IN_THE_HEAD = new Set([
  ...["INVALID_JSON", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "INTERNAL_ERROR"],
]);
const page = renderApiPage(document);
const head = page.slice(0, page.indexOf("\n## "));
const readSection = (title: string) => {
  const begin = page.indexOf(`\n### ${title}\n`);
  expect(begin, title).toBeGreaterThan(-1);
  const end = page.indexOf("\n##", begin + 1);
  return page.slice(begin, end === -1 ? undefined : end);
};

describe("the API's page [interfaces 9]", () => {
  it("has a section for each operation, with its path, its fields and the codes of its own [interfaces 9]", () => {
    for (const { id, method, path } of API.operations) {
      const text = readSection(id);
      expect(text).toContain(`\`${method} ${path}\``);
      for (const [, name] of path.matchAll(/\{(\w+)\}/g)) expect(head, id).toContain(`\`${name}\` (`);
      const { responses } = (document.paths as Paths)[path]![method.toLowerCase()]!;
      const codes = Object.values(responses).flatMap(
        ({ $ref, "x-error-codes": own = [] }) =>
          shared[$ref?.split("/").at(-1) ?? ""]?.["x-error-codes"] ?? own,
      );
      const usual = path.startsWith("/v1/organizations/") ? [...USUAL, ...OF_ORGANIZATIONS] : USUAL;
      for (const code of codes.filter((one) => !IN_THE_HEAD.has(one) && !usual.includes(one)))
        expect(text, id).toContain(`\`${code}\``);
      for (const code of usual) expect(head, id).toContain(`\`${code}\``);
      const never = usual.filter((code) => !codes.includes(code));
      expect(/never (.*)/.exec(text)?.[1], id).toBe(
        never.length === 0 ? undefined : never.map((code) => `\`${code}\``).join(" or "),
      );
    }
  });

  it("lists the fields of each record, and every link of the page leads to a heading [interfaces 9]", () => {
    for (const name of Object.keys(document.components.schemas))
      expect(readSection(name)).toMatch(/^- `\w+`/m);
    const anchors = [...page.matchAll(/^###? (.*)$/gm)].map(([, title]) =>
      title!.toLowerCase().replaceAll(".", ""),
    );
    for (const [, target] of page.matchAll(/\]\(#([\w-]+)\)/g)) expect(anchors).toContain(target);
    expect(page).not.toMatch(/undefined|\[object|anything with/);
  });

  it("describes a long field or list once, and links to it elsewhere [interfaces 9]", () => {
    expect(readSection("webhooks.create")).toContain("- `url`\\*, `events`\\*: as in [Webhook](#webhook)");
    expect(readSection("CreatedWebhook")).toContain("The fields of [Webhook](#webhook), and\n\n- `secret`");
    expect(readSection("uploads.cancel")).toContain("Query: as [uploads.put](#uploadsput)");
  });

  it("links to the list of events instead of repeating it [6.1]", () => {
    const list = "list of [event names](reference/service-api.md#6.1)";
    expect(readSection("Webhook")).toContain(`- \`events\`\\*: ${list}, not empty\n`);
    expect(readSection("NotificationRule")).toContain(
      `- \`events\`\\*: ${list}, \`connector.job.succeeded\`, \`connector.job.failed\`, not empty\n`,
    );
    expect(readSection("InputMessage")).toContain("- `role`\\*: `user`, `system`, `assistant`\n");
  });

  it("describes the type of a field in words [4.3]", () => {
    expect(readSection("departments.reparent")).toContain(
      "Body:\n\n- `new_parent_id`\\*: `dept_…` or null\n",
    );
    expect(readSection("departments.reparent")).toContain("422 `DEPARTMENT_CYCLE_DETECTED`");
    expect(readSection("music_collections.list_tracks")).toMatch(
      /Query:\n\n- `limit`: integer, 1 to \d+, default `\d+`/,
    );
    expect(readSection("meeting_sessions.export_transcript")).toContain(
      "- `format`: `txt`, `srt`, `json`, default `txt`\n",
    );
  });

  it("says which provider has a field, and what it is if it is left out [4.20]", () => {
    const text = readSection("images.uncrop");
    const sides = "`extend_left`, `extend_right`, `extend_up`, `extend_down`";
    expect(text).toContain(`- ${sides}: integer, 0 to 2,000. Pixels, for provider_a. Default: 0\n`);
    expect(text).toMatch(/- `seed`: integer. For provider_a\n- `prompt`: For provider_b\n/);
    expect(text).toContain("For provider_b. Default: 1024x1024\n");
    expect(text.replaceAll("\n", " ")).toContain("`mask_file`, which it requires");
  });
});
