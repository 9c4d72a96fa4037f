import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { generateFiles } from "../../scripts/generate/files.ts";

const readWritten = (name: string) =>
  readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8").split("\n");

/**
 * Does the same as `npm run generate -- --check` without a build. The library's types, which take seconds, are only
 * checked there.
 */
it("the generated documents under docs/ match the declarations [interfaces 11]", async () => {
  const files = await generateFiles((name) => readWritten(name).join("\n"));
  expect(Object.keys(files)).toContain("control-api.json");
  for (const [name, text] of Object.entries(files)) {
    const [now, then] = [text.split("\n"), readWritten(name)];
    // Compares the first line that differs, since a difference of ten thousand lines is unreadable.
    const line = now.findIndex((one, i) => one !== then[i]);
    expect([now.length, now[line]], `${name}:${line + 1}`).toEqual([then.length, then[line]]);
  }
});

it.each(["openapi.json", "control-api.json"])(
  "a field with a default is optional for clients, in %s [interfaces 11]",
  (name) => {
    type Schema = { $ref?: string; required?: string[]; properties?: Record<string, { default?: unknown }> };
    type Content = { content?: Record<string, { schema?: Schema }> };
    type Call = {
      parameters?: { name: string; required?: boolean; schema: object }[];
      requestBody?: Content;
    };
    const { paths, components } = JSON.parse(readWritten(name).join("\n")) as {
      paths: Record<string, Record<string, Call>>;
      components: { schemas: Record<string, Schema> };
    };
    const resolve = (schema: Schema = {}) =>
      components.schemas[schema.$ref?.split("/").at(-1) ?? ""] ?? schema;
    const calls = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, call]) => [`${method} ${path}`, call] as const),
    );
    const wronglyRequired = calls.flatMap(([title, { parameters = [], requestBody }]) => [
      ...parameters.flatMap(({ name, required, schema }) =>
        required && "default" in schema ? [`${title} ${name}`] : [],
      ),
      ...Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => {
        const { required = [], properties = {} } = resolve(schema);
        return required.flatMap((field) =>
          properties[field]?.default === undefined ? [] : [`${title} ${field}`],
        );
      }),
    ]);
    expect(calls.length).toBeGreaterThan(40);
    expect(wronglyRequired).toEqual([]);
  },
);
