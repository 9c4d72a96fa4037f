import type { TSchema } from "typebox";
import type { BodySpec } from "../../engine/contract/operation.ts";
import type { UnsupportedFeature } from "./document-report.ts";
import { type DescribedOperation, type Media, mayBeJson } from "./list-operations.ts";
import { findForm, parseForm, toForm } from "./read-form.ts";
import type { Schemas } from "./schemas.ts";

/** The media type that is read: JSON, but not a JSON patch; else a JSON patch, else a form, else the first. */
export function chooseMedia<M extends Pick<Media, "type">>(media: readonly M[]): M | undefined {
  return (
    media.find(({ type }) => mayBeJson(type) && !type.startsWith(JSON_PATCH)) ??
    media.find(({ type }) => mayBeJson(type)) ??
    media.find(({ type }) => type.startsWith("multipart/")) ??
    media.find(({ type }) => type.startsWith(FORM)) ??
    media[0]
  );
}

const TEXT_JSON = "text/json";
const JSON_PATCH = "application/json-patch+json";
const FORM = "application/x-www-form-urlencoded";
const isUrlEncoded = ({ type }: Media) => type.startsWith(FORM);

/** A media type without parameters. */
const getBareType = ({ type }: Media) => type.split(";", 1)[0]!.trim();

/** How the body of an operation is read; undefined if it has none, or is a GET. */
export function toBodySpec({ body, method }: DescribedOperation, schemas: Schemas): BodySpec | undefined {
  const media = body && chooseMedia(body.media);
  if (body === undefined || media === undefined || method === "GET") return undefined;
  const optional = !body.required;
  const form = findForm(body);
  const urlEncoded = body.media.find(isUrlEncoded);
  if (media === form && urlEncoded === undefined) return { ...toForm(media, schemas), optional };
  const isJson = mayBeJson(media.type);
  const isText = media.type.startsWith("text/");
  if (!isJson && !isText && urlEncoded === undefined) return { kind: "stream", optional };
  const schema = declareBody(body.media, media, schemas);
  if (!isJson && urlEncoded === undefined)
    return { kind: "json", schema, optional, text: { types: [getBareType(media)], read: (sent) => sent } };
  const otherSchemas = declareOtherBodies(body.media, media, schemas);
  return {
    kind: "json",
    schema,
    optional,
    ...(otherSchemas.length > 0 && { schemas_by_type: Object.fromEntries(otherSchemas) }),
    ...(body.media.some(({ type }) => type.startsWith(TEXT_JSON)) && { json_types: [TEXT_JSON] }),
    ...(urlEncoded && {
      text: { types: [FORM], read: (sent) => parseForm(sent, urlEncoded, schemas), isBesideJson: isJson },
    }),
    ...(form && { form: toForm(form, schemas) }),
  };
}

/** The schema of the chosen type, in place of a form with files that of the url-encoded one; also that of a JSON patch. */
function declareBody(all: readonly Media[], chosen: Media, schemas: Schemas): TSchema {
  const patch = findPatch(all, chosen);
  const isForm = chosen.type.startsWith("multipart/");
  const plainNode = (isForm ? all.find(isUrlEncoded) : chosen)?.schema?.node ?? true;
  // A JSON patch is a list, and no other body of an update is.
  const node = patch
    ? // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      { if: { type: "array" }, then: patch.schema?.node ?? true, else: plainNode }
    : plainNode;
  return schemas.toOperationSchema(node, "request") as TSchema;
}

const findPatch = (all: readonly Media[], chosen: Media) =>
  all.find(({ type }) => type.startsWith(JSON_PATCH) && type !== chosen.type);

/** The schemas of the other types of JSON and of the url-encoded form, by type. */
function declareOtherBodies(all: readonly Media[], chosen: Media, schemas: Schemas): [string, TSchema][] {
  const urlEncoded = all.find(isUrlEncoded);
  return all
    .filter((one) => (mayBeJson(one.type) || one === urlEncoded) && one !== findPatch(all, chosen))
    .filter((one) => getBareType(one) !== getBareType(chosen))
    .flatMap((one) =>
      one.schema
        ? [[getBareType(one), schemas.toOperationSchema(one.schema.node, "request") as TSchema]]
        : [],
    );
}

/** The bodies of an operation that are not read as the document describes them, each with its place. */
export function* listUnreadBodies(
  { body, method, place }: DescribedOperation,
  schemas: Schemas,
): Generator<UnsupportedFeature> {
  const readMedia = body && chooseMedia(body.media);
  if (body === undefined || readMedia === undefined) return;
  const bodyPath = [...place, "requestBody"];
  if (method === "GET") return yield { feature: "a body of GET (it is not read)", path: bodyPath };
  for (const { type, schema } of body.media)
    if (type !== readMedia.type && !(isReadBeside(type) && isReadBeside(readMedia.type)))
      yield {
        feature: `a body in ${type} beside ${readMedia.type} (only the latter is read)`,
        path: schema?.path.slice(0, -1) ?? bodyPath,
      };
  const path = readMedia.schema?.path.slice(0, -1) ?? bodyPath;
  const isMultipart = readMedia.type.startsWith("multipart/");
  if (isMultipart && !readMedia.type.startsWith("multipart/form-data"))
    yield { feature: `a body in ${readMedia.type} (only multipart/form-data is read)`, path };
  else if (isMultipart && schemas.listProperties(readMedia.schema?.node).size === 0)
    yield { feature: "a form without named fields (its files are not read)", path };
  else if (!isMultipart && !mayBeJson(readMedia.type) && !EXPECTED_TYPES.test(readMedia.type))
    yield { feature: `a body in ${readMedia.type} (any bytes are accepted)`, path };
}

/** Whether bodies of this type are read also if the document has other such types. */
const isReadBeside = (type: string) =>
  mayBeJson(type) || type.startsWith(FORM) || type.startsWith("multipart/form-data");

const EXPECTED_TYPES =
  /^(text|image|audio|video)\/|^application\/(x-www-form-urlencoded|octet-stream|pdf|zip|gzip)/;
