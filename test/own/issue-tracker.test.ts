import { expect, it } from "vitest";
import { parse } from "yaml";
import { makeCalls, type Sdk } from "../../matrix/tests/issue-tracker-calls.ts";
import { readExample, type ServedDocument, serveDocument } from "../support/own/serve-document.ts";

const text = readExample("issue-tracker/openapi.yaml");

it("an unrelated API needs only bindings: sixty calls of its client get the answers of a real service", async () => {
  const served = serveDocument(text);
  const sdk = createSdk(served);
  expect(Object.keys(sdk)).toHaveLength(30);
  expect(await makeCalls(sdk)).toBeGreaterThanOrEqual(60);
  await served.understudy.close();
});

/**
 * The functions that a code generator would make from the document. `npm run matrix` makes the same calls with the
 * client of hey-api.
 */
function createSdk({ send }: ServedDocument): Sdk {
  const { paths, servers } = parse(text);
  const base = new URL(servers[0].url).pathname;
  const sdk: Sdk = {};
  for (const [path, item] of Object.entries<
    Record<string, { operationId?: string; requestBody?: { content?: object } }>
  >(paths))
    for (const [method, operation] of Object.entries(item)) {
      if (operation.operationId === undefined) continue;
      const [type = "application/json"] = Object.keys(operation.requestBody?.content ?? {});
      sdk[operation.operationId] = async ({ path: values = {}, query = {}, body } = {}) => {
        const target =
          base + path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name]!));
        const search = new URLSearchParams(
          Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
        );
        const answer = await send(method.toUpperCase(), `${target}?${search}`, {
          body: type.startsWith("multipart/") ? toForm(body as object) : body,
          headers: type.startsWith("application/merge") ? { "content-type": type } : {},
        });
        const { status, body: received } = answer;
        const response = new Response(null, { status });
        return status < 400 ? { data: received, response } : { error: received, response };
      };
    }
  return sdk;
}

function toForm(body: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.set(name, value);
  return form;
}
