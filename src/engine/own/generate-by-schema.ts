import { generateSync, type JsonSchema, type Random } from "json-schema-faker";

/** A value that fits a schema without references, if the generator finds one; the same for the same seed. */
export function generateBySchema(schema: object, seed: number): unknown {
  return generateSync(schema as JsonSchema, {
    seed,
    alwaysFakeOptionals: true,
    failOnInvalidTypes: false,
    // By default, parts deeper than five levels are left empty.
    maxDepth: 100,
    // Instants of the machine's present would differ from day to day.
    minDateTime: "2026-01-01T00:00:00.000Z",
    maxDateTime: "2026-12-31T00:00:00.000Z",
    formats: FORMATS,
  });
}

const FORMATS = {
  uri: (random: Random) => `https://example.test/${random.int(100, 999)}`,
  "uri-reference": (random: Random) => `/${random.int(100, 999)}`,
  byte: () => "ZXhhbXBsZQ==",
  binary: () => "example",
};
