import type { JsonSchema } from "../../src/engine/contract/schema.ts";
import { toSentence } from "../../src/engine/contract/text.ts";
import { describeSchema, describeType, toLink } from "./describe-schema.ts";

/** The parts of the OpenAPI document that the page shows. */
export interface ApiDocument {
  paths: object;
  components: { schemas: object; responses: object };
}

interface Content {
  content?: Record<string, { schema?: JsonSchema }>;
}

interface Call {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  "x-section": string;
  "x-assumption"?: string[];
  parameters?: {
    $ref?: string;
    name: string;
    in: string;
    required?: boolean;
    schema: JsonSchema;
    description?: string;
  }[];
  requestBody?: Content;
  responses: Record<string, Answer>;
}

/** `$ref` names one that operations share. */
type Answer = Content & { $ref?: string; "x-error-codes"?: string[]; description: string };

/** Codes of every operation, which only the head of the page lists. */
const COMMON_CODES = new Set([
  "INVALID_JSON",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "INTERNAL_ERROR",
]);
/** Codes of nearly every operation; only the exceptions are shown. */
const USUAL_CODES = ["AUTHENTICATION_REQUIRED", "INVALID_INPUT", "RATE_LIMIT_EXCEEDED"];
/** Codes of nearly every operation whose path begins with an organization. */
const ORGANIZATION_CODES = ["ORGANIZATION_ACCESS_DENIED", "ORGANIZATION_NOT_FOUND"];

/** The OpenAPI document of the emulated API as the page docs/api.md: a section per operation, then the records. */
export function renderApiPage({ paths, components }: ApiDocument): string {
  const calls = Object.entries(paths as Record<string, Record<string, Call>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses, ...call }]) => ({
      method: method.toUpperCase(),
      path,
      call: { ...call, responses: resolveShared(responses, components.responses as Call["responses"]) },
    })),
  );
  const records = Object.entries(components.schemas as Record<string, JsonSchema>);
  const places = new DescribedPlaces(records);
  const tags = [...new Set(calls.map(({ call }) => call.tags[0]!))];
  const sections = tags.map((tag) => {
    const callsOfTag = calls
      .filter(({ call }) => call.tags[0] === tag)
      .map((one) => renderCallSection(one, places));
    return `## ${toTitle(tag)}\n\n${callsOfTag.join("\n")}`;
  });
  return `# The API

Every operation that Understudy emulates, then the [records](#records) that operations take and answer. The [OpenAPI
document](openapi.json), from which this page is generated, has every detail. [Getting started](getting-started.md) has a first request.

A description ends with links: \`4.5\` leads to the service's [reference](reference/service-api.md), and \`G03\` to [what Understudy
does](reference/assumptions.md) where the reference is silent. [Sandboxes and time](sandboxes-and-time.md) explains settings, such as
\`preview\`, and the sandbox's clock.

| written | means |
|---|---|
| \`*\` after the name | required |
| no type | text |
| \`org_…\` | an id that begins with \`org_\` |
| \`{…}\` | an object with these fields |
| instant | an ISO 8601 date-time |
| date | an ISO 8601 date-time, or a date alone, which means the whole UTC day |

A path parameter has the same type in every path: ${describePathParameters(calls.map(({ call }) => call))}.

Some errors are not listed with each operation. An operation that says "never" is an exception:

| error | of which operations |
|---|---|
| 401 \`AUTHENTICATION_REQUIRED\`, 422 \`INVALID_INPUT\`, 429 \`RATE_LIMIT_EXCEEDED\` | all |
| 403 \`ORGANIZATION_ACCESS_DENIED\`, 404 \`ORGANIZATION_NOT_FOUND\` | below \`/v1/organizations/\` |
| 400 \`INVALID_JSON\`, 413 \`PAYLOAD_TOO_LARGE\`, 415 \`UNSUPPORTED_MEDIA_TYPE\` | those with a body |
| 500 \`INTERNAL_ERROR\` | all |

[Errors and limits](errors-and-limits.md) explains every code.

${sections.join("\n")}
## Records

${records.map((record) => renderRecordSection(record, places)).join("\n")}`;
}

function resolveShared(responses: Call["responses"], shared: Call["responses"]): Call["responses"] {
  return Object.fromEntries(
    Object.entries(responses).map(([status, answer]) => [
      status,
      answer.$ref === undefined ? answer : shared[answer.$ref.split("/").at(-1)!]!,
    ]),
  );
}

/** A name means the same in every path. */
function describePathParameters(calls: readonly Call[]): string {
  const all = calls.flatMap((call) => findParameters(call, "path"));
  const descriptions = new Map(
    all.map(({ name, schema }) => [name, `\`${name}\` (${describeType(schema)})`]),
  );
  return [...descriptions.values()].join(", ");
}

function findParameters({ parameters = [] }: Call, place: string) {
  return parameters.filter((one) => one.$ref === undefined && one.in === place);
}

function renderCallSection(
  { method, path, call }: { method: string; path: string; call: Call },
  places: DescribedPlaces,
): string {
  const prose = [call.summary, call.description].filter((one) => one !== undefined).join(". ");
  const assumptionLinks = (call["x-assumption"] ?? []).map((id) => `[${id}](reference/assumptions.md#${id})`);
  const section = call["x-section"];
  const page = section.startsWith("G") ? "assumptions" : "service-api";
  const sources = [`[${section}](reference/${page}.md#${section})`, ...assumptionLinks];
  const lists = ["query", "header"].map((place) => renderParameters(call, place, places));
  return [
    `### ${call.operationId}`,
    `\`${method} ${path}\``,
    `${toSentence(prose)} ${[...new Set(sources)].join(", ")}`,
    ...[...lists, renderBody(call, places)].filter((list) => list !== ""),
    `${renderAnswers(path, call)}\n`,
  ].join("\n\n");
}

function renderParameters(call: Call, place: string, places: DescribedPlaces): string {
  const items = findParameters(call, place).map(({ name, required, schema, description }) =>
    renderItem(name, required === true, description === undefined ? schema : { ...schema, description }),
  );
  if (items.length === 0) return "";
  const list = joinItems(items);
  const earlier = places.findList(list, call.operationId);
  const title = toTitle(place);
  return earlier === undefined
    ? `${title}:\n\n${list}`
    : `${title}: as [${earlier}](#${earlier.replaceAll(".", "")})`;
}

function renderBody({ requestBody }: Call, places: DescribedPlaces): string {
  return Object.entries(requestBody?.content ?? {})
    .map(([type, { schema = {} }]) => {
      if (schema.properties === undefined) return `Body: \`${type}\`, ${describeType(schema)}`;
      const title = type === "application/json" ? "Body" : "Form";
      return `${title}:\n\n${joinItems(listFields(schema, places))}`;
    })
    .join("\n\n");
}

function listFields({ properties = {}, required = [] }: JsonSchema, places?: DescribedPlaces): string[] {
  return Object.entries(properties).map(([name, field]) =>
    renderItem(name, required.includes(name), field, places?.findField(name, field)),
  );
}

/** Joins neighbours that are described alike into one line. */
function joinItems(items: readonly string[]): string {
  const lines: [string, string][] = [];
  for (const one of items) {
    const [, name, about] = /^- (`.*?`(?:\\\*)?)(.*)$/.exec(one) as unknown as [string, string, string];
    const last = lines.at(-1);
    if (last?.[1] === about) last[0] += `, ${name}`;
    else lines.push([name, about]);
  }
  return lines.map(([names, about]) => `- ${names}${about}`).join("\n");
}

function renderAnswers(path: string, { responses }: Call): string {
  const usualCodes = path.startsWith("/v1/organizations/")
    ? [...USUAL_CODES, ...ORGANIZATION_CODES]
    : USUAL_CODES;
  const isOnlySuccess =
    Object.values(responses).filter((one) => one["x-error-codes"] === undefined).length === 1;
  const lines = Object.entries(responses).flatMap(([status, answer]) => {
    const codes = answer["x-error-codes"]?.filter(
      (code) => !COMMON_CODES.has(code) && !usualCodes.includes(code),
    );
    if (codes?.length === 0) return [];
    if (codes !== undefined) return `${status} ${codes.map((code) => `\`${code}\``).join(" ")}`;
    const bodies = Object.entries(answer.content ?? {}).map(([type, { schema = {} }]) =>
      type === "application/json" ? describeType(schema) : `\`${type}\``,
    );
    const { description } = answer;
    const when =
      isOnlySuccess || description === "Success"
        ? ""
        : `(${description[0]!.toLowerCase()}${description.slice(1)})`;
    return [status, [...new Set(bodies)].join(" or "), when].filter((part) => part !== "").join(" ");
  });
  const answeredCodes = new Set(Object.values(responses).flatMap((answer) => answer["x-error-codes"] ?? []));
  const never = usualCodes.filter((code) => !answeredCodes.has(code)).map((code) => `\`${code}\``);
  if (never.length > 0) lines.push(`never ${never.join(" or ")}`);
  return `Answers ${lines.join("; ")}`;
}

function renderRecordSection([name, schema]: [string, JsonSchema], places: DescribedPlaces): string {
  const about = schema.description === undefined ? "" : `${toSentence(schema.description)}\n\n`;
  const all = listFields(schema);
  const base = places.bases.get(name);
  const inheritedFields = new Set(base === undefined ? [] : listFields(base.schema));
  const fields = joinItems(all.filter((field) => !inheritedFields.has(field)));
  const head = base === undefined ? "" : `The fields of ${toLink(base.name)}, and\n\n`;
  return `### ${name}\n\n${about}${head}${all.length === 0 ? toSentence(describeType(schema)) : fields}\n`;
}

/** The places where the page describes a long field or list of parameters; other places link to them. */
class DescribedPlaces {
  /** By record: another record that has a part of its fields. */
  readonly bases = new Map<string, { name: string; schema: JsonSchema }>();
  private readonly fields = new Map<string, string>();
  private readonly lists = new Map<string, string>();

  constructor(records: readonly (readonly [string, JsonSchema])[]) {
    for (const [name, schema] of records) {
      const all = new Set(listFields(schema));
      const base = records.find(([, other]) => {
        const part = listFields(other);
        return part.length >= MIN_SHARED && part.length < all.size && part.every((field) => all.has(field));
      });
      if (base !== undefined) this.bases.set(name, { name: base[0], schema: base[1] });
    }
    for (const [name, { properties = {} }] of records)
      if (!this.bases.has(name))
        for (const [field, one] of Object.entries(properties))
          this.fields.set(renderItem(field, false, one), name);
  }

  /** The record with the same field, if describing it again takes long. */
  findField(name: string, schema: JsonSchema): string | undefined {
    const text = renderItem(name, false, schema);
    return text.length < MIN_LENGTH ? undefined : this.fields.get(text);
  }

  /** The earlier operation that has the same list; if there is none, remembers the list for later ones. */
  findList(list: string, operation: string): string | undefined {
    const earlier = this.lists.get(list);
    if (earlier === undefined && list.length >= MIN_LENGTH) this.lists.set(list, operation);
    return earlier;
  }
}

const MIN_SHARED = 4;
const MIN_LENGTH = 70;

function renderItem(name: string, required: boolean, schema: JsonSchema, home?: string): string {
  const about = home === undefined ? describeSchema(schema) : `as in ${toLink(home)}`;
  return `- \`${name}\`${required ? "\\*" : ""}${about === "" ? "" : `: ${about}`}`;
}

function toTitle(tag: string): string {
  const words = tag.replaceAll("_", " ");
  return words[0]!.toUpperCase() + words.slice(1);
}
