import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Api, startReference } from "../support/harness.ts";
import { createTempFolder, removeTempFolders } from "../support/run-understudy.ts";

vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 });

const NAMES = [
  ...[
    "A1",
    "1",
    "Zoë Müller",
    "Łukasz Żółć",
    "Игорь Петров",
    "李小龍",
    "山田 太郎",
    "김 민준",
    "محمد علي",
    "דוד כהן",
  ],
  ...[
    "Ελένη",
    "नेहा",
    "สมชาย",
    "🎉",
    "👩‍🚀 Ada",
    "---",
    "Dr.",
    "O'Neil-Ng",
    "ʼ",
    "ｆｕｌｌ",
    "é".normalize("NFD"),
    "\u200bx",
  ],
  ...["Ada Osei", "Ada Osei", "ada osei", "x".repeat(200)],
];
/** The syntax that mail programs and HTML forms accept. */
const VALID = /^(?=[^@]{1,64}@)[a-z0-9]+(\.[a-z0-9]+)*@example\.test$/;

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(async () => {
  await api.close();
  removeTempFolders();
});

const STATE = "/_control/sandboxes/default/state/users";

describe("an invented e-mail address is valid and unique", () => {
  it("from a state call, for a name in any script [G44]", async () => {
    const known = (await api.call(undefined, "GET", `${STATE}?limit=100`)).body.items as { email: string }[];
    const emails = known.map(({ email }) => email);
    for (const name of NAMES) {
      const { status, body, text } = await api.call(undefined, "POST", STATE, { name });
      expect(status, `${name}: ${text}`).toBe(201);
      expect(body.email, name).toMatch(VALID);
      emails.push(body.email);
    }
    expect(new Set(emails).size).toBe(emails.length);
  });

  it("from a state call without a name, or with an empty one [G44]", async () => {
    expect((await api.call(undefined, "POST", STATE, {})).body.email).toMatch(VALID);
    const { status, body } = await api.call(undefined, "POST", STATE, { name: "" });
    if (status === 201) expect(body.email).toMatch(VALID);
    else expect([status, body.field]).toEqual([422, "name"]);
  });

  it("from a fixture, in every locale [G44]", async () => {
    const file = join(createTempFolder(), "people.json");
    const users = NAMES.map((name, index) => ({ id: `usr_${index}`, name }));
    writeFileSync(file, JSON.stringify({ organizations: [{ id: "org_a" }], users }));
    for (const locale of ["en", "ja", "ru", "ar"]) {
      const other = await startReference({ fixture: file, settings: { locale } });
      const { items } = (await other.call(undefined, "GET", `${STATE}?limit=100`)).body;
      await other.close();
      const emails = items.map(({ email }: { email: string }) => email);
      for (const email of emails) expect(email).toMatch(VALID);
      expect(new Set(emails).size).toBe(NAMES.length);
    }
  });
});
