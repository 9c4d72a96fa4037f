import {
  type AnyDeclaration,
  type Declaration,
  listSuccesses,
  type Success,
} from "../../src/engine/contract/operation.ts";
import { PROBLEMS, type ProblemKind } from "../../src/engine/contract/problems.ts";
import type { JsonSchema } from "../../src/engine/contract/schema.ts";
import { type DescribedSetting, describeSettings } from "../../src/engine/contract/settings.ts";
import { toSentence } from "../../src/engine/contract/text.ts";
import { groupBy } from "../../src/engine/maps.ts";
import { getTag } from "../../src/tools/reports/openapi-document.ts";

// biome-ignore lint/suspicious/noExplicitAny: declarations of every shape
type Call = Declaration<any, any, any, any, ProblemKind>;

/**
 * Rewrites the tables of a page. Each table ends at `<!-- end -->`. `<!-- calls: clock -->` begins the calls whose ids
 * begin with `clock`, `<!-- problems -->` the problems, `<!-- settings -->` the settings. The rest is written by hand,
 * including the refusals of all calls.
 */
export function rewriteTables(page: string, calls: readonly Call[]): string {
  const listed: ListedFields = new Map();
  return page.replaceAll(
    /(<!-- (calls|problems|settings)(?:: ([\w ]+))? -->\n).*?(<!-- end -->)/gs,
    (...match) => {
      const [, begin, table, tags, end] = match as [string, string, string, string | undefined, string];
      if (table === "problems") return `${begin}${renderProblems()}${end}`;
      if (table === "settings") return `${begin}${renderSettings()}${end}`;
      const groups = tags!.split(" ");
      const rows = groups.flatMap((tag) => calls.filter((call) => getTag(call) === tag));
      return `${begin}${renderCalls(rows, listed)}${end}`;
    },
  );
}

/** A line for each call: its summary, its input, its answer, unless it is 204 alone, and its errors. */
function renderCalls(calls: readonly Call[], listed: ListedFields): string {
  const lines = calls.map((call) => {
    const input = describeInput(call, listed);
    const answers = describeAnswers(call, listed);
    const errors = describeErrors(call);
    const parts = [
      `${call.method} ${shortenPath(call)}: ${toSentence(call.summary)}`,
      input === "" ? "" : `Takes ${input}.`,
      answers === "204" ? "" : `Answers ${answers}.`,
      errors === "" ? "" : `Errors: ${errors}.`,
    ];
    return `- ${parts.filter((part) => part !== "").join(" ")}\n`;
  });
  return lines.join("");
}

function shortenPath({ path }: AnyDeclaration): string {
  const below = path.replace(/^\/_control\/sandboxes\/\{name\}/, "");
  return below === path ? `\`${path}\`` : below === "" ? "S" : `S\`${below}\``;
}

function describeInput({ query, body }: AnyDeclaration, listed: ListedFields): string {
  const keys = Object.keys((query as JsonSchema | undefined)?.properties ?? {});
  const parts = keys.length === 0 ? [] : [`\`?${keys.map((key) => `${key}=`).join("&")}\``];
  if (body?.kind === "json")
    parts.push(describeShape(body.schema as JsonSchema, listed) + (body.optional ? " (optional)" : ""));
  return parts.join(", ");
}

function describeAnswers(call: Call, listed: ListedFields): string {
  const successes = listSuccesses(call);
  const isOnlyOne = successes.length === 1;
  return successes
    .map((success) => {
      const status = isOnlyOne && success.status === 200 ? "" : `${success.status} `;
      return (status + formatSuccess(success, listed)).trim();
    })
    .join(", or ");
}

/** Refusals that the page describes once, for all calls, like unknown names. */
const COMMON_ERRORS: readonly ProblemKind[] = ["limit-reached", "invalid-document"];

function describeErrors(call: Call): string {
  const listedErrors = call.errors.filter(
    (kind) => !kind.startsWith("unknown-") && !COMMON_ERRORS.includes(kind),
  );
  const byStatus = groupBy(listedErrors, (kind): number => PROBLEMS[kind].status);
  return [...byStatus]
    .map(([status, kinds]) => `${status} ${kinds.map((kind) => `\`${kind}\``).join(", ")}`)
    .join("; ");
}

function formatSuccess(
  { schema, content_types, events, description }: Success,
  listed: ListedFields,
): string {
  if (description !== undefined) return lowerFirst(description);
  if (events !== undefined) return `server-sent events, each ${describeShape(events as JsonSchema, listed)}`;
  if (schema !== undefined) return describeShape(schema as JsonSchema, listed);
  return (content_types ?? []).map((type) => `\`${type}\``).join(", ");
}

const lowerFirst = (text: string) => `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;

/** The fields of objects that were already listed, by name. */
type ListedFields = Map<string, readonly string[]>;

/** Objects with this many fields or more are listed once, under their names. */
const MANY_FIELDS = 5;

/** The schemas of objects with this many fields are only in the OpenAPI document. */
const TOO_MANY_FIELDS = 14;

/** The fields of an object, optional ones with a question mark, or its description. */
function describeShape(schema: JsonSchema, listed: ListedFields): string {
  const { $id, description, properties = {}, items } = schema;
  const itemSchema = findItem(schema) ?? items;
  if (itemSchema !== undefined) {
    const isNamed = Object.keys(itemSchema.properties ?? {}).length >= MANY_FIELDS;
    const one = itemSchema.properties === undefined ? itemSchema.$id! : formatFields(itemSchema);
    if (items !== undefined) return `\`[${one}]\``;
    return `a list of ${isNamed ? describeShape(itemSchema, listed) : `\`${one}\``}`;
  }
  const names = Object.keys(properties);
  if (names.length === 0) return $id === undefined ? lowerFirst(description ?? "") : `\`${$id}\``;
  if ($id === undefined || names.length < MANY_FIELDS) return `\`${formatFields(schema)}\``;
  if (listed.has($id)) return `\`${$id}\``;
  const base = [...listed].find(([, baseFields]) => baseFields.every((field) => names.includes(field)));
  listed.set($id, names);
  if (names.length >= TOO_MANY_FIELDS) return `\`${$id}\``;
  return `\`${$id}\`: \`${formatFields(schema, base)}\``;
}

/** Writes the fields; if they include all of another object, the other's name and the remaining ones. */
function formatFields(
  { properties = {}, required = [] }: JsonSchema,
  [base, baseFields]: readonly [string?, (readonly string[])?] = [],
): string {
  const names = Object.keys(properties).filter((name) => baseFields?.includes(name) !== true);
  const fields = names.map((name) => (required.includes(name) ? name : `${name}?`));
  return `{${[...(base === undefined ? [] : [`...${base}`]), ...fields].join(", ")}}`;
}

/** The schema of the items of a list, `{items, total}`. */
function findItem({ properties = {} }: JsonSchema): JsonSchema | undefined {
  const { items, total, ...others } = properties;
  return total !== undefined && Object.keys(others).length === 0 ? items?.items : undefined;
}

function renderProblems(): string {
  const kinds = Object.entries(PROBLEMS).sort(([, a], [, b]) => a.status - b.status);
  const rows = groupBy(kinds, ([, { status, when }]) => `${status} ${when}`);
  return [...rows.values()]
    .map((row) => {
      const [[, { status, when }]] = row as [(typeof kinds)[number]];
      return `- ${status} ${row.map(([kind]) => `\`${kind}\``).join(", ")}: ${when}\n`;
    })
    .join("");
}

function renderSettings(): string {
  const rows = describeSettings().map(({ name, default: initial, description, assumption = "", schema }) => {
    const defaultText = Array.isArray(initial) ? `[${initial.join(", ")}]` : String(initial);
    const gap = assumption && ` ([${assumption}](reference/assumptions.md#${assumption}))`;
    return `| \`${name}\` | \`${defaultText}\` | ${describeValues(schema)} | ${description}${gap} |\n`;
  });
  return `| setting | default | takes | what it changes |\n|---|---|---|---|\n${rows.join("")}`;
}

/** Longer lists of values are only in the OpenAPI document. */
const MANY_WORDS = 12;

/** The values that a setting takes, in words. */
function describeValues(schema: DescribedSetting["schema"]): string {
  const { type, pattern, minimum, maximum, maxItems } = schema as Record<string, number | string | undefined>;
  const words = (schema as { enum?: string[] }).enum;
  if (words !== undefined) {
    const list = (some: readonly string[]) => some.map((word) => `\`${word}\``).join(", ");
    if (words.length <= MANY_WORDS) return list(words);
    return `one of [${words.length} values](control-api.json), such as ${list(words.slice(0, 3))}`;
  }
  if (type === "array") return maxItems === undefined ? "a list" : `a list of at most ${maxItems}`;
  if (type === "string") return `\`${pattern}\``;
  const maximumText = maximum!.toLocaleString("en-US");
  return minimum === undefined ? `more than 0, up to ${maximumText}` : `${minimum} to ${maximumText}`;
}
