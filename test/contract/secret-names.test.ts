import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { isSecretName, SECRET_HEADER } from "../../src/engine/contract/secret-names.ts";

/** Lists all names of fields, parameters, headers and settings in an OpenAPI document. */
function listNames(node: unknown, names = new Set<string>()): Set<string> {
  if (typeof node !== "object" || node === null) return names;
  const { properties, headers, name, in: where } = node as Record<string, unknown>;
  for (const field of Object.keys(properties ?? headers ?? {})) names.add(field);
  if (typeof name === "string" && typeof where === "string") names.add(name);
  for (const inner of Object.values(node)) listNames(inner, names);
  return names;
}

it.each([
  ["openapi.json", ["X-API-Key", "access_token", "api-key", "api_key", "refresh_token", "secret"]],
  // A bundle contains the bodies that changed settings and records, since it replays them. `has_secret` is only in
  // responses.
  ["control-api.json", ["api_key", "has_secret", "secret"]],
  ["fixture.schema.json", ["secret"]],
  ["scenario.schema.json", ["api_key"]],
])("of all names in %s these are masked: %s [interfaces 4]", (document, masked) => {
  const names = [...listNames(JSON.parse(readFileSync(`docs/${document}`, "utf8")))];
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => isSecretName(name) || SECRET_HEADER.test(name)).sort()).toEqual(masked);
});

it.each([
  "auth_configs",
  "auth_type",
  "auth_errors",
  "author",
  "authors",
  "cors_credentials",
  "token_type",
  "max_tokens",
  "token_lifetime_seconds",
  "Access-Control-Allow-Credentials",
  "WWW-Authenticate",
])("the name %s stays readable [interfaces 4]", (name) => {
  expect([isSecretName(name), SECRET_HEADER.test(name)]).toEqual([false, false]);
});
