import { getOwn } from "../../../engine/maps.ts";
import { BODILESS_METHODS } from "../../api/fetch-service.ts";
import { type JsonSchema, type Operation, type SchemaComponents, splitNull } from "../../api/open-api.ts";
import { fillIds, type Samples } from "./samples.ts";
import { makeExample } from "./schema.tsx";

export const URL_ENCODED = "application/x-www-form-urlencoded";
/** The place of the fields of an url-encoded form. */
export const FORM = "form";

/** Parts of media types in the server's order of preference; `""` is part of every type. */
const PREFERRED_TYPES = ["json", "multipart/", URL_ENCODED, ""];

/** Type and content of the documented body that the server prefers. */
export function findDocumentedBody({ requestBody }: Operation) {
  const bodies = Object.entries(requestBody?.content ?? {});
  const preferred = PREFERRED_TYPES.find((part) => bodies.some(([type]) => type.includes(part)));
  return bodies.find(([type]) => type.includes(preferred!));
}

/** The body to send; undefined if browsers send none with this method. */
export function findSentBody(operation: Operation) {
  return BODILESS_METHODS.test(operation.method) ? undefined : findDocumentedBody(operation);
}

type DocumentedParameter = NonNullable<Operation["parameters"]>[number];
/** A parameter of a call, or a field of an url-encoded form. */
export type CallParameter = Omit<DocumentedParameter, "in"> & { in: DocumentedParameter["in"] | typeof FORM };
type GetValue = (parameter: CallParameter) => string;

/** Parameters in two places may have the same name. */
export const toParameterKey = ({ in: place, name }: CallParameter) => `${place} ${name}`;

/** The parameters, and the fields of an url-encoded form. An object in the query or form gives a parameter for each property. */
export function listParameters(operation: Operation, components: SchemaComponents): CallParameter[] {
  const [type, content] = findSentBody(operation) ?? [];
  const fields =
    type === URL_ENCODED
      ? listProperties({ in: FORM, name: "", schema: content!.schema, required: true }, components)
      : [];
  return (operation.parameters ?? [])
    .flatMap((one): CallParameter[] => {
      const { in: place, style = "form", explode } = one;
      if (place === "query" && style === "deepObject") return listProperties(one, components);
      if (place !== "query" || style !== "form" || explode === false) return [one];
      // With an empty name, the names of properties have no prefix. A value that is not an object comes back unchanged.
      const properties = listProperties({ ...one, name: "" }, components);
      return properties[0]?.name === "" ? [one] : properties;
    })
    .concat(fields.filter(({ name }) => name !== ""));
}

const MAX_NESTING = 4;

/** The properties of an object, and of objects within it as `outer[name]`; else the value itself. */
function listProperties(outer: CallParameter, components: SchemaComponents, depth = 0): CallParameter[] {
  const { properties = {}, required = [] } = splitNull(outer.schema ?? {}, components).nonNull;
  if (Object.keys(properties).length === 0 || depth > MAX_NESTING) return [outer];
  return Object.entries(properties).flatMap(([name, schema]) => {
    const property: CallParameter = {
      in: outer.in,
      name: outer.name === "" ? name : `${outer.name}[${name}]`,
      schema,
      required: Boolean(outer.required) && required.includes(name),
      ...(schema.description !== undefined && { description: schema.description }),
    };
    return listProperties(property, components, depth + 1);
  });
}

/** The text that a field begins with: an id for the path, an example for a required field of a form, else nothing. */
export function getSample(
  parameter: CallParameter,
  samples: Samples | undefined,
  components: SchemaComponents,
): string {
  const { in: place, name, required, schema = {} } = parameter;
  if (place === FORM && required) return makeFieldText(schema, samples, components);
  return (place === "path" && getOwn(samples?.parameters ?? {}, name)) || "";
}

/** An example for a field of a form; of an object, and of a list of objects, its JSON. */
export function makeFieldText(
  schema: JsonSchema,
  samples: Samples | undefined,
  components: SchemaComponents,
): string {
  const example = makeExample(schema, components, "request");
  const hasObject = [example].flat().some((one) => typeof one === "object");
  return fillIds(hasObject ? JSON.stringify(example) : String(example), samples?.ids ?? {});
}

export function describeParameter(parameter: CallParameter, components: SchemaComponents): string {
  const { in: place, required } = parameter;
  const parts = [
    [place, required && "required"].filter(Boolean).join(", "),
    place === "cookie" && "A page cannot send it: use “Copy as curl”",
    isRepeated(parameter, components) && "A list, separated by commas",
    parameter.description,
  ];
  return parts.filter(Boolean).join(". ");
}

/** Whether each value of a list is sent as a parameter of its own: `tag=a&tag=b`. */
function isRepeated(
  { in: place, schema = {}, style, explode }: CallParameter,
  components: SchemaComponents,
): boolean {
  const isList = splitNull(schema, components).nonNull.type === "array";
  const isExploded = (style ?? "form") === "form" && explode !== false;
  return (place === "query" || place === FORM) && isList && isExploded;
}

export function fillPath(template: string, getValue: GetValue): string {
  return template.replaceAll(/\{([^{}]+)\}/g, (_, name: string) =>
    encodeURIComponent(getValue({ in: "path", name })),
  );
}

export function readParameters(
  parameters: readonly CallParameter[],
  components: SchemaComponents,
  place: CallParameter["in"],
  getValue: GetValue,
): [name: string, value: string][] {
  return parameters
    .filter((one) => one.in === place && getValue(one) !== "")
    .flatMap((one) => {
      const values = isRepeated(one, components) ? getValue(one).split(",") : [getValue(one)];
      return values.map((value): [string, string] => [one.name, value.trim()]);
    });
}
