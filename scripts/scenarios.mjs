// Writes a scenario file for each documented refusal (401, 403, 404, 422, 429) of each operation that has
// none yet, as a start: a file that is there is never touched, so what is written in it by hand stays.

import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const build = spawnSync(
  process.execPath,
  [fileURLToPath(new URL("./build.mjs", import.meta.url)), "--if-stale", "--no-types"],
  { stdio: "inherit" },
);
if (build.status !== 0) process.exit(build.status ?? 1);
const { generatedFiles } = await import("../dist/generated.js");
const { paths } = JSON.parse((await generatedFiles(() => ""))["openapi.json"]);

const STATUSES = ["401", "403", "404", "422", "429"];

/**
 * What a file is called after its operation, and what its description says after the operation's summary. A code
 * that is not here is called as it is, and described by the catalogue's message.
 */
const CODES = {
  AUTHENTICATION_REQUIRED: ["signed-out", "the credentials are missing, wrong or no longer valid"],
  INSUFFICIENT_PERMISSIONS: ["forbidden", "the caller is known but lacks the permission"],
  ORGANIZATION_ACCESS_DENIED: ["foreign-organization", "the caller is no member of the organization"],
  SESSION_ACCESS_DENIED: [
    "foreign-session",
    "the meeting session belongs to an organization the caller is not in",
  ],
  RESOURCE_NOT_FOUND: ["not-found", "what the request names does not exist, or not for this caller"],
  ORGANIZATION_NOT_FOUND: ["unknown-organization", "there is no such organization"],
  SESSION_NOT_FOUND: ["unknown-session", "there is no such meeting session"],
  FILE_NOT_IN_STORE: ["not-in-store", "the file was never put into this store"],
  DASHBOARD_NOT_FOUND: ["unknown-dashboard", "there is no such dashboard, or the caller may not see it"],
  DEPARTMENT_CYCLE_DETECTED: ["cycle", "the new parent is the department itself or lies below it"],
  INVALID_INPUT: ["invalid-input", "the service does not accept one of the values"],
  RATE_LIMIT_EXCEEDED: [
    "rate-limited",
    "the plan's requests for this minute are used up; Retry-After says how long to wait",
  ],
  SPENDING_LIMIT_EXCEEDED: ["out-of-budget", "a spending limit is reached"],
};

let written = 0;
for (const [path, item] of Object.entries(paths)) {
  for (const [method, operation] of Object.entries(item)) {
    if (operation.operationId === undefined) continue;
    for (const [status, response] of Object.entries(operation.responses)) {
      if (!STATUSES.includes(status)) continue;
      for (const code of response["x-error-codes"] ?? [])
        written += write({ operation, method, path, status, response, code });
    }
  }
}
process.stdout.write(`${written} scenarios written\n`);

function write({ operation, method, path, status, response, code }) {
  const [word, meaning] = CODES[code] ?? [code.toLowerCase().replaceAll("_", "-"), messageOf(response, code)];
  const name = `${operation.operationId.replaceAll(/[._]/g, "-")}-${word}`;
  const file = new URL(`../scenarios/${name}.yaml`, import.meta.url);
  if (existsSync(file)) return 0;
  const text = `# ${operation["x-section"]}: ${method.toUpperCase()} ${path}
name: ${name}
description: >-
  ${operation.summary.replace(/\.$/, "")}: answered with ${status}, because ${meaning}.
rules:
  - id: ${word}
    match: { operation: ${operation.operationId} }
    effect: { error: ${code} }
`;
  writeFileSync(file, text);
  process.stdout.write(`scenarios/${name}.yaml\n`);
  return 1;
}

/** As the document has it: "`CODE`: The message.", in the middle of a sentence. */
function messageOf({ description }, code) {
  const message = description.split(`\`${code}\`: `)[1].split(/\.( `|$)/)[0];
  return message[0].toLowerCase() + message.slice(1);
}
