import type { Operation } from "../../api/open-api.ts";
import { useSandboxQuery } from "../../api/queries.ts";

/** For parameters that name a record, one of this world: by how its example begins. Undefined until the server said. */
export function useSamples(
  { parameters = [] }: Operation,
  organization: string | undefined,
): Readonly<Record<string, string>> | undefined {
  const wanted = parameters.flatMap(({ name, schema: { examples } }) =>
    typeof examples?.[0] === "string" && examples[0].endsWith("_example")
      ? [[name, examples[0].replace("example", "")] as const]
      : [],
  );
  const { data } = useSandboxQuery(
    ["samples", organization, wanted],
    async (calls) => {
      const { items } = await calls.collections();
      const found = wanted.map(async ([name, prefix]) => {
        const collection = items.find((one) => one.prefix === prefix);
        if (prefix === "org_" && organization !== undefined) return [name, organization] as const;
        if (collection === undefined || collection.records === 0) return [name, ""] as const;
        const { items: records } = await calls.records(collection.name, { limit: MANY });
        const all = records as unknown as readonly Record<string, unknown>[];
        const own = all.find((record) => record["organization_id"] === organization) ?? all[0];
        return [name, String(own?.[collection.id_field] ?? "")] as const;
      });
      return Object.fromEntries(await Promise.all(found));
    },
    { live: false },
  );
  return data;
}

const MANY = 50;
