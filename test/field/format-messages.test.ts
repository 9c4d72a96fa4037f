import { describe, expect, it } from "vitest";
import { KEYS } from "../support/harness.ts";
import { useReference } from "../support/use-reference.ts";

const api = useReference();

const UPLOAD = "/v1/organizations/org_acme/files/upload-url";
const AN_ID = "1 to 120 letters, digits, hyphens or underscores";

const REFUSED: [method: string, path: string, body: object | undefined, message: string][] = [
  [
    "POST",
    "/webhooks",
    { url: "ftp://x", events: ["user.created"] },
    "url must be an absolute http or https URL",
  ],
  [
    "POST",
    "/webhooks",
    { url: "x.test/hook", events: ["user.created"] },
    "url must be an absolute http or https URL",
  ],
  [
    "POST",
    "/v1/organizations/org_acme/knowledge/connectors/notifications/test",
    { notification_type: "webhook", url: "x.test/hook" },
    "url must be an absolute http or https URL",
  ],
  [
    "POST",
    UPLOAD,
    { filename: "a.txt", file_size: 1, mime_type: "text" },
    "mime_type must be a media type such as text/plain",
  ],
  ["DELETE", "/v1/threads/thread_ü", undefined, `thread_id must be thread_ and ${AN_ID}`],
  [
    "GET",
    "/v1/organizations/org_acme/knowledge/connectors/jobs/job.1",
    undefined,
    "job_id must be 1 to 124 letters, digits, hyphens or underscores",
  ],
  [
    "GET",
    "/v1/organizations/org_acme/audit-log/export?target_id=dan",
    undefined,
    `target_id must be a prefix such as usr_ and ${AN_ID}`,
  ],
  ["DELETE", "/v1/threads/5", undefined, `thread_id must be thread_ and ${AN_ID}`],
  [
    "PUT",
    "/v1/user/current-organization",
    { organization_id: "acme" },
    `organization_id must be org_ and ${AN_ID}`,
  ],
];

describe("a value in the wrong form is refused with a description of the right one [G08]", () => {
  it.each(REFUSED)("%s %s %j", async (method, path, body, message) => {
    const response = await fetch(`${api.url}${encodeURI(path)}`, {
      method,
      headers: { "api-key": KEYS.ada, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const answer = (await response.json()) as { error: { message: string } };
    expect([response.status, answer.error.message]).toEqual([422, message]);
    const { entries } = (await api.call(undefined, "GET", "/_control/sandboxes/default/journal?limit=1"))
      .body;
    expect(entries[0].reasons.at(-1)).toContain(message);
  });
});
