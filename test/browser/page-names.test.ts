import { base, en, Faker } from "@faker-js/faker";
import { expect, it } from "vitest";
import { pickUsedLists } from "../../scripts/build-browser.mjs";
import * as invent from "../../src/engine/contract/invent.ts";
import { DEFAULT_SETTINGS } from "../../src/engine/contract/settings.ts";
import { platform, providePlatform } from "../../src/engine/platform.ts";
import { Random } from "../../src/engine/state/random.ts";
import "../../src/hosts/node/platform.ts";

const { inventEmail, inventFilename, makeDistinctEmail, ...plain } = invent;

it("a page, which loads only a part of faker, invents the same names as a server [G44]", () => {
  const node = platform();
  const inPage = new Faker({ locale: [en, base].map(pickUsedLists) });
  providePlatform({
    ...node,
    loadFaker: (locale) => (locale === "page" ? inPage : node.loadFaker(locale)),
  });
  try {
    for (let seed = 0; seed < 2_000; seed++) {
      const [page, server] = ["page", "en"].map((locale) => {
        const createInventor = () => ({
          random: new Random(seed),
          settings: { ...DEFAULT_SETTINGS, locale } as typeof DEFAULT_SETTINGS,
        });
        const values = Object.values(plain).map((one) => one(createInventor()));
        return [
          ...values,
          inventEmail(values[0]!, "usr_1", createInventor()),
          inventFilename(".pdf", createInventor()),
        ];
      });
      expect(page).toEqual(server);
    }
  } finally {
    providePlatform(node);
  }
});
