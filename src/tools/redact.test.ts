import { describe, expect, it } from "vitest";
import {
  createSecretRedactor,
  MASK,
  redactBrokenJson,
  redactHeader,
  redactJson,
  redactQuery,
  redactText,
} from "./redact.ts";

const KEY = "ak_adaOwnerAcme000000000000000000000000000";
const SECRET = "whsec_referenceSecretForTheOpsWebhook0001";
const TOKEN = "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWo";
const JWT = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c3JfYWRhIiwib3JnIjoib3JnX2FjbWUiLCJrZXkiOiJhcGlrZXlfYWRhIn0.${TOKEN}`;

it("a known secret is redacted in each of its spellings [interfaces 14]", () => {
  const secret = "whsec_Zm9v+YmFy/YmF6";
  const texts = [secret, secret.slice("whsec_".length)];
  const spellings = texts.flatMap((text) => {
    const hex = Buffer.from(text).toString("hex");
    return [text, hex, hex.toUpperCase(), btoa(text), encodeURIComponent(text)];
  });
  expect(new Set(spellings.map(createSecretRedactor(secret)))).toEqual(new Set(["[secret]"]));
});

describe("the masking of secrets [interfaces 4]", () => {
  it.each([
    ["an API key", `key ${KEY} was sent`, `key ak_${MASK} was sent`],
    ["a webhook secret", `${SECRET}`, `whsec_${MASK}`],
    ["a token in a path", `/_uploads/${TOKEN}/x`, `/_uploads/${MASK}/x`],
    ["a token in a URL", `http://127.0.0.1:1/u?upload_id=${TOKEN}`, `http://127.0.0.1:1/u?upload_id=${MASK}`],
    ["a named parameter", "/x?token=short&y=1", `/x?token=${MASK}&y=1`],
    ["a parameter of a fragment", "/x?y=1#y=1&token=a?b z", `/x?y=1#y=1&token=${MASK} z`],
    ["a parameter after a route in a fragment", "/#/callback?token=short", `/#/callback?token=${MASK}`],
    ["a nested parameter", "/x?user[token]=short", `/x?user[token]=${MASK}`],
    ["an ordinary path", "/v1/organizations/org_acme/departments", "/v1/organizations/org_acme/departments"],
    [
      "a long name of words and numbers",
      "The rule retries-of-large-uploads-in-phase-2-Q3-2026-v2 was armed",
      "The rule retries-of-large-uploads-in-phase-2-Q3-2026-v2 was armed",
    ],
    ["a token with a UUID", "sk-live-0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9", MASK],
    ["a record's id", "file_k3v9x2ab7c8d9e0f1g2h", "file_k3v9x2ab7c8d9e0f1g2h"],
  ])("masks %s by its form", (_what, text, expected) => {
    expect(redactText(text)).toBe(expected);
  });

  it("masks an access token's claims and signature", () => {
    const masked = redactText(`got ${JWT}`);
    for (const part of JWT.split(".").slice(1)) expect(masked).not.toContain(part);
  });

  it("masks credentials in headers, keeping the scheme", () => {
    expect(redactHeader("Authorization", "Bearer canary")).toBe(`Bearer ${MASK}`);
    expect(redactHeader("authorization", "canary")).toBe(MASK);
    expect(redactHeader("Api-Key", "canary")).toBe(MASK);
    expect(redactHeader("Location", `http://x/${TOKEN}`)).toBe(`http://x/${MASK}`);
    expect(redactHeader("Content-Type", "application/json")).toBe("application/json");
    const signature = `sha256=${"5e".repeat(32)}`;
    expect(redactHeader("X-Service-Signature", signature)).toBe(signature);
    expect(redactHeader("X-Service-Signature", TOKEN)).toBe(MASK);
  });

  it("masks fields by name at any depth, and the value that an error repeats", () => {
    expect(redactJson({ data: [{ secret: "canary", access_token: 7, name: "x" }] })).toEqual({
      data: [{ secret: MASK, access_token: MASK, name: "x" }],
    });
    expect(redactJson({ details: { field: "api_key", value: { a: "canary" } } })).toEqual({
      details: { field: "api_key", value: MASK },
    });
    expect(redactJson({ details: { field: "keys[0].token[1]", value: "canary" } })).toEqual({
      details: { field: "keys[0].token[1]", value: MASK },
    });
    expect(redactJson({ [KEY]: { name: "x" } })).toEqual({ [`ak_${MASK}`]: { name: "x" } });
    expect(redactJson({ details: { field: "name", value: "shown" } })).toEqual({
      details: { field: "name", value: "shown" },
    });
  });

  it("masks secrets in a body that is not JSON", () => {
    const masked = redactBrokenJson('{"refresh_token": "canary \\" more", "secret":"canary');
    expect(masked).not.toContain("canary");
    expect(redactQuery("a=1&api_key=canary&api%5Fkey=canary")).toBe(`a=1&api_key=${MASK}&api%5Fkey=${MASK}`);
  });

  it("masks a token of 10 MB, such as an encoded image", () => {
    expect(redactText("a1".repeat(5 * 1024 * 1024))).not.toContain("a1");
  });

  // A backtracking pattern would need hours here and exceed the timeout.
  it("is quick on megabytes that almost look like secrets", () => {
    for (const part of ["a", "eyJ-", "ak_", "whsec_", '"secret" ', "? ", "_1"]) {
      expect(redactBrokenJson(part.repeat(1_000_000 / part.length))).not.toBe("");
    }
  });
});
