import fc from "fast-check";

type Json = unknown;
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: readonly Json[];
  const?: Json;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  allOf?: readonly Schema[];
  properties?: Record<string, Schema>;
  required?: readonly string[];
  items?: Schema;
  pattern?: string;
  format?: string;
  description?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  minItems?: number;
  examples?: readonly Json[];
}

export const HOSTILE_TEXTS = [
  "",
  " ",
  "\u0000",
  "\r\nX-Evil: 1",
  "../../etc/passwd",
  "..\\..\\x",
  "'; DROP TABLE users;--",
  "<script>alert(1)</script>",
  "__proto__",
  "constructor",
  "toString",
  "\u202e\u0300\uffff",
  "\ud800",
  "😀".repeat(40),
  "a".repeat(5_000),
  "null",
  "NaN",
  "-1",
  "1e309",
  "99999999999999999999",
  "0x10",
  "true",
  "[]",
  "%",
  "%00",
  "{{7*7}}",
  "2026-02-30",
  "2026-03-15T25:00:00Z",
  "+275760-09-13T00:00:00.001Z",
  "0000-00-00",
  "http://user:pass@127.0.0.1:9/",
  "http://[::1",
  "javascript:alert(1)",
] as const;

const HOSTILE_NUMBERS = [
  0,
  -0,
  -1,
  0.5,
  1e-320,
  1e308,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
];

/** Any JSON; values that often break programs are more frequent. */
export const hostileJson: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(...HOSTILE_TEXTS),
  fc.constantFrom<Json>(...HOSTILE_NUMBERS),
  fc.constantFrom<Json>(null, true, false, [], {}, [[]], [null], { "": {} }),
  fc.constant(JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": 1}}') as Json),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Identifiers of the reference world by prefix, so that valid requests find records. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  org_: ["org_acme", "org_acme", "org_acme", "org_globex", "org_initech"],
  dept_: ["dept_acme", "dept_eng", "dept_platform", "dept_infra", "dept_ml", "dept_globex"],
  usr_: ["usr_ada", "usr_dan"],
  mcoll_: ["mcoll_focus", "mcoll_empty", "mcoll_ada"],
  thread_: ["thread_welcome", "thread_long", "thread_ada"],
  asst_: ["asst_helper", "asst_fresh"],
  dsh_: ["dsh_revenue", "dsh_globex"],
  slink_: ["slink_board", "slink_partner", "slink_globex"],
  mbsess_: ["mbsess_standup", "mbsess_live", "mbsess_empty", "mbsess_secret"],
  trans_: ["trans_interview", "trans_short", "trans_redacted", "trans_pending"],
  conn_: ["conn_drive", "conn_wiki"],
  vs_: ["vs_handbook", "vs_empty"],
  file_: ["file_handbook", "file_policies", "file_broken", "file_loose"],
  wh_: ["wh_ops"],
  del_: ["del_ok", "del_failed"],
  job_: ["job_sync_done", "job_reset_failed", "job_sync_running"],
};
const BY_NAME: Readonly<Record<string, readonly string[]>> = {
  job_id: KNOWN["job_"]!,
  slug: ["revenue-board", "globex-kpis"],
  bucket: ["uploads"],
  model: ["atlas-large", "comet-mini", "breeze-chat", "dune-legacy"],
  url: ["http://127.0.0.1:9/hook", "https://127.0.0.1:9/"],
  email: ["ops@acme.test"],
};

export class Values {
  private readonly schemas: Record<string, Schema>;

  constructor(schemas: Record<string, Schema>) {
    this.schemas = schemas;
  }

  /** Generates values that fit a schema of the document; `name` is the field's name. */
  fitting(schema: Schema, name = ""): fc.Arbitrary<Json> {
    if (schema.$ref) return this.fitting(this.schemas[schema.$ref.split("/").at(-1)!]!, name);
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    const alternatives = schema.anyOf ?? schema.oneOf;
    if (alternatives) return fc.oneof(...alternatives.map((inner) => this.fitting(inner, name)));
    const types = [schema.type ?? "object"].flat();
    return fc.oneof(...types.map((type) => this.ofType(type, schema, name)));
  }

  private ofType(type: string, schema: Schema, name: string): fc.Arbitrary<Json> {
    switch (type) {
      case "null":
        return fc.constant(null);
      case "boolean":
        return fc.boolean();
      case "integer":
      case "number":
        return fc.integer({ min: schema.minimum ?? -5, max: Math.min(schema.maximum ?? 2100, 3_000) });
      case "string":
        return makeText(schema, name);
      case "array":
        return fc.array(this.fitting(schema.items ?? {}, name), {
          minLength: schema.minItems ?? 0,
          maxLength: (schema.minItems ?? 0) + 2,
        });
      default:
        return this.object(schema);
    }
  }

  private object({ properties = {}, required = [] }: Schema): fc.Arbitrary<Json> {
    const fields = Object.entries(properties).map(([name, inner]) => {
      const value = this.fitting(inner, name);
      const present = required.includes(name) ? value : fc.option(value, { nil: undefined, freq: 1 });
      return [name, present] as const;
    });
    return fc.record(Object.fromEntries(fields)).map((record) => JSON.parse(JSON.stringify(record)) as Json);
  }
}

function makeText({ pattern, examples, format, description, minLength = 0 }: Schema, name: string) {
  const prefix = /^\^\(?([a-z]+)(?:\||_)/.exec(pattern ?? "")?.[1];
  const known = BY_NAME[name] ?? (prefix ? KNOWN[`${prefix}_`] : undefined);
  if (known) {
    return fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...known) },
      fc.constant(`${prefix ?? "x"}_nowhere`),
    );
  }
  if (format === "date-time" || /ISO 8601/.test(description ?? "")) {
    return fc.constantFrom("2026-03-15", "2026-03-01T00:00:00Z", "2025-12-31", "2026-03-15T12:00:00.000Z");
  }
  if (examples && examples.length > 0) return fc.constantFrom(...(examples as string[]));
  if (pattern) return fc.constant("text/plain");
  return fc.oneof(
    fc.constantFrom("hello", "What is the notice period?"),
    fc.string({ minLength, maxLength: 20 }),
  );
}

/** Replaces, removes or adds one thing in a JSON value. */
export function breakValue(value: Json): fc.Arbitrary<Json> {
  const places = listPaths(value, []);
  return fc
    .tuple(fc.constantFrom(...places), fc.constantFrom("replace", "drop", "add"), hostileJson)
    .map(([place, how, hostile]) => changeAt(value, place, { how, hostile }));
}

function listPaths(value: Json, path: string[]): string[][] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => listPaths(inner, [...path, key]))];
}

function changeAt(value: Json, [key, ...rest]: string[], change: { how: string; hostile: Json }): Json {
  if (key === undefined) {
    if (change.how !== "add" || typeof value !== "object" || value === null || Array.isArray(value))
      return change.hostile;
    return { ...value, surprise: change.hostile };
  }
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, Json>;
  if (rest.length === 0 && change.how === "drop") delete copy[key];
  else copy[key] = changeAt(copy[key], rest, change);
  return copy;
}
