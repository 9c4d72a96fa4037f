import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bench, benchPerTest, FILES, pieces, put, stores } from "../../test/support/stores.ts";

benchPerTest();

/** A test each, as opening a hundred takes longer than one test may on a machine that learns what the tests reach. */
const QUARTERS = [1, 26, 51, 76];

describe.each(FILES)("quality 2.7 a file that was cut ($name)", (adapter) => {
  const { start } = stores(adapter);

  it.each(QUARTERS)(
    "quality 2.7 at each percent from %i on: no start fails, none takes a part for the whole",
    async (from) => {
      const store = await start();
      const text = "x".repeat(200);
      const rows = Array.from({ length: 100 }, (_, i) =>
        put("a", "records/n", `n${String(i).padStart(3, "0")}`, text),
      );
      await store.commit(pieces(rows));
      bench.open.splice(0);
      await store.close();
      const whole = readFileSync(adapter.file());
      for (let percent = from; percent < Math.min(from + 25, 100); percent++) {
        const place = join(bench.folder, `cut-${percent}`);
        mkdirSync(place);
        writeFileSync(adapter.file(place), whole.subarray(0, Math.floor((whole.length * percent) / 100)));
        const cut = await adapter.open(place);
        expect([0, 100], `cut at ${percent} percent`).toContain((await cut.load("a")).length);
        await cut.close();
      }
    },
  );
});
