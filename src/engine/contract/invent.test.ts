import { describe, expect, it } from "vitest";
import { Random } from "../state/random.ts";
import * as invent from "./invent.ts";
import { DEFAULT_SETTINGS, Settings } from "./settings.ts";

const LOCALES = (Settings.properties.locale as unknown as { enum: string[] }).enum;
const ADDRESS = /^[a-z0-9]+(\.[a-z0-9]+)*@example\.test$/;

function createInventor(locale: string, seed = 1) {
  return { random: new Random(seed), settings: { ...DEFAULT_SETTINGS, locale } };
}

describe("generated values", () => {
  it.each([
    "A1",
    "Ada Osei",
    "Dr. Zoë O'Neil Jr.",
    "李小龍",
    "Игорь Петров",
    "محمد علي",
    "นภา",
    "---",
    "😀",
    "x".repeat(300),
  ])("an e-mail address for the name %s is valid [G44]", (name) => {
    for (let seed = 0; seed < 50; seed++) {
      const email = invent.inventEmail(name, "usr_k3v9", createInventor("en", seed));
      expect(email).toMatch(ADDRESS);
      expect(email.indexOf("@")).toBeLessThanOrEqual(64);
    }
  });

  it.each(
    Object.entries({
      ...{ Ødegård: "odegard", Łukasz: "lukasz", Đorđe: "dorde", Weiß: "weiss", GROẞ: "gross" },
      ...{ Ægir: "aegir", Ǽsc: "aesc", Œuvre: "oeuvre", Þór: "thor", Yıldız: "yildiz", İpek: "ipek" },
      ...{ Guðrún: "gudrun", Ħal: "hal", Əli: "eli", Škoda: "skoda" },
    }),
  )("the address of %s spells its letters as %s [G44]", (name, spelled) => {
    for (let seed = 0; seed < 10; seed++)
      expect(invent.inventEmail(name, "usr_1", createInventor("en", seed))).toMatch(
        new RegExp(`^${spelled}[.0-9]*@example\\.test$`),
      );
  });

  it("an address that is taken gets a number [G44]", () => {
    const taken = new Set(["ada@example.test", "ada.2@example.test"]);
    expect(invent.makeDistinctEmail("ada@example.test", (email) => taken.has(email))).toBe(
      "ada.3@example.test",
    );
    expect(invent.makeDistinctEmail("ben@example.test", (email) => taken.has(email))).toBe(
      "ben@example.test",
    );
  });

  it("every locale gives every kind of value, the same for the same seed, with one draw each [G44]", () => {
    const kinds = [
      invent.inventName,
      invent.inventCompany,
      invent.inventTeam,
      invent.inventJob,
      invent.inventTitle,
      (context: ReturnType<typeof createInventor>) =>
        invent.inventEmail(invent.inventName(context), "usr_1", context),
      (context: ReturnType<typeof createInventor>) => invent.inventFilename(".pdf", context),
    ];
    for (const locale of LOCALES) {
      const [one, two] = [createInventor(locale), createInventor(locale)];
      for (const kind of kinds) {
        const value = kind(one);
        expect(value.trim(), locale).not.toBe("");
        expect(kind(two), locale).toBe(value);
      }
      expect(invent.inventEmail(invent.inventName(one), "usr_1", one), locale).toMatch(ADDRESS);
      expect(invent.inventFilename(".pdf", one), locale).toMatch(/^[a-z0-9-]+\.pdf$/);
    }
    const [drawn, plain] = [createInventor("en"), new Random(1)];
    invent.inventFilename(".pdf", drawn);
    plain.uint32();
    expect(drawn.random.uint32()).toBe(plain.uint32());
  });

  it("names are in the language of the locale [G44]", () => {
    expect(invent.inventName(createInventor("ja"))).toMatch(/[\p{Script=Han}\p{Script=Hiragana}]/u);
    expect(invent.inventName(createInventor("ru"))).toMatch(/\p{Script=Cyrillic}/u);
  });
});
