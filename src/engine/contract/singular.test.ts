import { expect, it } from "vitest";
import { toSingular } from "./text.ts";

it.each(
  Object.entries({
    ...{ notes: "note", boxes: "box", statuses: "status", categories: "category", addresses: "address" },
    ...{ news: "news", series: "series", status: "status", address: "address", analysis: "analysis" },
    ...{ analyses: "analysis", movies: "movie", pies: "pie", branches: "branch", caches: "cache" },
    ...{ coaches: "coach", dishes: "dish", buses: "bus", viruses: "virus", aliases: "alias", uses: "use" },
    ...{
      houses: "house",
      pauses: "pause",
      responses: "response",
      databases: "database",
      services: "service",
    },
    ...{ apis: "api", menus: "menu", keys: "key", knowledge: "knowledge", news_boxes: "news_box", s: "" },
  }),
)("one of `%s` is a %s", (plural, singular) => {
  expect(toSingular(plural)).toBe(singular);
});
