import { describe, expect, it } from "vitest";
import { redactHeader, redactJson, redactQuery } from "../exchanges/secret-redactor.ts";
import { Vault } from "./vault.ts";

const CANARY = "canary7";
const NAMES = [
  "api_key",
  "api-key",
  "apiKey",
  "access_token",
  "refresh_token",
  "id_token",
  "token",
  "client_secret",
];
const FIELDS = [...NAMES, "secret", "PASSWORD", "Authorization"];
const HEADERS = [
  ...["api-key", "X-Api-Key", "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie"],
  ...["X-Auth-Token", "X-CSRF-Token", "X-Client-Secret", "X-Password"],
];
const OPEN_FIELDS = ["key", "tokens", "name", "secretary"];
const OPEN_HEADERS = ["Accept", "X-Request-Id", "X-Token-Count", "Cookie-Policy"];

describe("interfaces 4 journal and bundle hold the same for secrets", () => {
  const vault = new Vault();
  it.each([
    ...FIELDS.map((name) => [name, true] as const),
    ...OPEN_FIELDS.map((name) => [name, false] as const),
  ])("interfaces 4 the field and the parameter %s: %s", (name, secret) => {
    for (const shown of [
      JSON.stringify(redactJson({ [name]: CANARY })),
      vault.sent(JSON.stringify({ [name]: CANARY })),
      redactQuery(`${name}=${CANARY}`),
      vault.sentTarget(`/v1/models?${name}=${CANARY}`),
    ])
      expect([shown, shown.includes(CANARY)]).toEqual([shown, !secret]);
  });

  it.each([
    ...HEADERS.map((name) => [name, true] as const),
    ...OPEN_HEADERS.map((name) => [name, false] as const),
  ])("interfaces 4 the header %s: %s", (name, secret) => {
    for (const value of [CANARY, `Bearer ${CANARY}`])
      for (const shown of [redactHeader(name, value), vault.sentHeader(name, value)])
        expect([shown, shown.includes(CANARY)]).toEqual([shown, !secret]);
  });
});
