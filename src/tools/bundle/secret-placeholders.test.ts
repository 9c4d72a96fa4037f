import { describe, expect, it } from "vitest";
import { maskMessage } from "../har/har-entry.ts";
import { redactBrokenJson, redactHeader, redactJson, redactQuery, redactText } from "../redact.ts";
import { toRecordedBody } from "./recorded-message.ts";
import { SecretPlaceholders } from "./secret-placeholders.ts";

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
/** Names that are recognized by their last word. */
const OWN_NAMES = [
  ...["signing_secret", "webhookSecret", "accessToken", "session-token", "new_password", "userPassword"],
  ...["x-api-key", "privateKey", "db_passwd", "PWD", "passphrase", "jwt", "proxy_authorization"],
  ...["credentials", "credential", "bearer", "auth", "authentication", "proxy_auth", "basicAuth"],
  ...["user[password]", "user[tokens][][token]", "token[]", "auth[key]", "login.password"],
  ...["awsCredentials", "user-credential", "httpBearer", "cors_auth", "allow_token"],
];
const FIELDS = [...NAMES, ...OWN_NAMES, "secret", "PASSWORD", "Authorization"];
const HEADERS = [
  ...["api-key", "X-Api-Key", "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie"],
  ...["X-Auth-Token", "X-CSRF-Token", "X-Client-Secret", "X-Password", "X-Private-Key", "X-JWT"],
  ...["X-Auth", "X-Bearer", "X-Credentials", "Proxy-Authentication"],
];
const OPEN_FIELDS = [
  ...["key", "tokens", "max_tokens", "name", "secretary", "author", "auth_configs", "cors_credentials"],
  ...["tokens[]", "secretary[name]", "auth.example.com", "settings[cors_credentials]"],
];
const OPEN_HEADERS = [
  ...["Accept", "X-Request-Id", "X-Token-Count", "Cookie-Policy", "Access-Control-Allow-Credentials"],
];

describe("journal and bundle mask the same secrets [interfaces 4]", () => {
  const secrets = new SecretPlaceholders();
  it.each([
    ...FIELDS.map((name) => [name, true] as const),
    ...OPEN_FIELDS.map((name) => [name, false] as const),
  ])("in the field or parameter %s: %s [interfaces 4]", (name, secret) => {
    const escaped = name.replace(/^./, (first) => `%${first.charCodeAt(0).toString(16)}`);
    const part = `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${CANARY}\r\nmore ${CANARY}\r\n--b--\r\n`;
    const bytes = Buffer.from(`a=1&${escaped}=${CANARY}`);
    const headers = ["Content-Type", "application/x-www-form-urlencoded"];
    for (const shown of [
      JSON.stringify(redactJson({ [name]: CANARY })),
      secrets.redact(JSON.stringify({ [name]: CANARY })),
      JSON.stringify(redactJson({ [name]: ["", CANARY, [`a"${CANARY}`]] })),
      secrets.redact(JSON.stringify({ [name]: ["", CANARY, [`a"${CANARY}`]] }, null, 2)),
      secrets.redact(JSON.stringify({ [name]: { inner: CANARY, [name]: CANARY } })),
      redactQuery(`${name}=${CANARY}`),
      secrets.redactTarget(`/v1/models?${name}=${CANARY}`),
      redactQuery(`${escaped}=${CANARY}`),
      secrets.redactTarget(`/v1/models?a=1&${escaped}=${CANARY}`),
      redactText(`?${name}=${CANARY}`),
      secrets.redact(`{"url":"https://a.test/b?c=1&${name}=${CANARY}","d":1}`),
      secrets.redactAnswer(`{"url":"https://a.test/b?${escaped}=${CANARY}"}`),
      redactBrokenJson(part),
      redactBrokenJson(part.slice(0, -9)),
      secrets.redact(part),
      JSON.stringify(maskMessage(headers, bytes)),
      JSON.stringify(toRecordedBody(bytes, secrets, headers[1])),
    ])
      expect([shown, shown.includes(CANARY)]).toEqual([shown, !secret]);
  });

  it.each([
    ...HEADERS.map((name) => [name, true] as const),
    ...OPEN_HEADERS.map((name) => [name, false] as const),
  ])("in the header %s: %s [interfaces 4]", (name, secret) => {
    for (const value of [CANARY, `Bearer ${CANARY}`])
      for (const shown of [redactHeader(name, value), secrets.redactHeader(name, value)])
        expect([shown, shown.includes(CANARY)]).toEqual([shown, !secret]);
  });

  it("and a bundle keeps the id of a known API key, by which a rule names it [interfaces 4]", () => {
    const known = new SecretPlaceholders();
    known.register(`ak_${"k".repeat(39)}`, "api_key:apikey_dan");
    const match = (id: string) => JSON.stringify({ api_key: id });
    expect(known.redact(match("apikey_dan"))).toBe(match("apikey_dan"));
    expect(known.redact(match("apikey_eve"))).not.toContain("apikey_eve");
  });

  it("and keep a form's other fields, while a URL loses its user [interfaces 4]", () => {
    const part = (name: string, value: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: text/plain\r\n\r\n${value}\r\n`;
    const form = `${part("token", CANARY)}${part("note", "kept")}--b--\r\n`;
    expect(redactBrokenJson(form)).toBe(form.replace(CANARY, "***"));
    expect(secrets.redact(form)).toBe(form.replace(CANARY, "⟦unknown:7⟧"));
    const many = `{"token": ["${CANARY}", {"inner": "${CANARY}"}], "note": ["kept", "⟦"]}`;
    const left = `{"token": ["⟦unknown:7⟧", {"inner": "⟦unknown:7⟧"}], "note": ["kept", "⟦open⟧"]}`;
    expect(secrets.redact(many)).toBe(left);
    expect(secrets.redactForm(`a=1&token=${CANARY}&b=2`)).toBe("a=1&token=⟦unknown:7⟧&b=2");
    expect(redactText(`to https://ops:${CANARY}@example.test/x`)).toBe("to https://***@example.test/x");
    expect(secrets.redact(`to https://ops:${CANARY}@example.test/x`)).toBe(
      `to https://⟦unknown:${CANARY.length + 4}⟧@example.test/x`,
    );
    for (const redact of [redactText, (text: string) => secrets.redact(text)])
      expect(redact("see http://127.0.0.1:80/a@b:c")).toBe("see http://127.0.0.1:80/a@b:c");
  });

  it("and mask a parameter of one character, beside others of a URL that stay [interfaces 4]", () => {
    expect([redactText("?jwt=a"), redactText("#pwd=a")]).toEqual(["?jwt=***", "#pwd=***"]);
    const url = (token: string) => `{"url":"https://a.test/b?c=1&token=${token}&d=2"}`;
    for (const redact of [secrets.redact, secrets.redactAnswer])
      expect(redact.call(secrets, url("a"))).toBe(url("⟦unknown:1⟧"));
  });

  it.each([
    `{"password": "${CANARY}`,
    `{"password": "a\\"${CANARY}\\`,
    `{"credentials": ["shown to none", "${CANARY}`,
    `{"credentials": {"a": ["x"], "b": "${CANARY}\\`,
  ])("and a body that breaks off inside a secret: %s [interfaces 4]", (body) => {
    expect(redactBrokenJson(body) + secrets.redact(body)).not.toContain(CANARY);
  });
});
