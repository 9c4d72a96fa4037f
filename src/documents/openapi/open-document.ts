import { CORE_SCHEMA, load, mergeTag } from "js-yaml";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { tryParseJson } from "../../engine/contract/text.ts";
import { checkJsonText } from "../../engine/documents/check-json.ts";
import { normalizeText } from "../../engine/documents/decode-text.ts";
import { documentError, NO_POSITION, type Position } from "../../engine/documents/document-error.ts";
import { LARGE_LIMITS } from "../../engine/documents/document-limits.ts";
import { findForeignText, mayMisreadSpaces } from "../../engine/documents/misread-text.ts";
import { readDocument } from "../../engine/documents/read-document.ts";
import { createInlineDocument, type UserDocument } from "../../engine/documents/user-document.ts";
import { Positions } from "./positions.ts";

export const OPENAPI_LIMITS = { ...LARGE_LIMITS, maxDepth: 200 };
const SCHEMA = CORE_SCHEMA.withTags(mergeTag);

/**
 * Reads the text of a large document, ten times as fast as `readDocument`, which records positions. Positions are
 * looked up when an error needs them. A text that is broken or misread goes to `readDocument`, which says why.
 * @throws DocumentError
 */
export function openDocument(text: string, file: string): UserDocument {
  const content = normalizeText(text);
  const readSlowly = () => readDocument(content, { file, limits: OPENAPI_LIMITS, allowsAnyKey: true });
  if (content.length > OPENAPI_LIMITS.maxBytes) return readSlowly();
  // A flow map of YAML begins like JSON.
  const json = content.trimStart().startsWith("{") ? tryParseJson(content) : undefined;
  if (json !== undefined) checkJsonText(content, { file, exactNumbers: false });
  else if (findForeignText(content, file) !== undefined) return readSlowly();
  const value = json ?? parseYaml(content);
  if (value === undefined) return readSlowly();
  try {
    // The same limits as `readDocument`, also for texts that expand by their aliases.
    createInlineDocument(value, { file, limits: OPENAPI_LIMITS, allowsAnyKey: true });
  } catch (error) {
    // The slower reader knows the place.
    readSlowly();
    throw error;
  }
  // `readDocument` refuses merge keys.
  if (json === undefined && !content.includes("<<:") && mayMisreadSpaces(content, value)) readSlowly();
  let positions: Positions | undefined;
  const getPositions = () => {
    positions ??= new Positions(content);
    return positions;
  };
  return {
    file,
    text: content,
    value,
    locate: (path) => getPositions().find(path).value,
    locateKey: (path) => getPositions().find(path).key,
  };
}

/** Undefined for a text that is broken or empty. */
function parseYaml(text: string): unknown {
  try {
    return load(text, { schema: SCHEMA, maxDepth: OPENAPI_LIMITS.maxDepth }) ?? undefined;
  } catch {
    return undefined;
  }
}

const VERSION = /^3\.[012]\.\d+/;

/** The value of an OpenAPI document. @throws DocumentError that says what the document is instead */
export function requireOpenApi({ value, file, text, locate }: UserDocument): JsonObject {
  const createError = (at: Position, message: string) => documentError(file, at, message);
  const top = text === undefined ? NO_POSITION : { line: 1, column: 1 };
  if (!isJsonObject(value))
    throw createError(
      top,
      `this is not an OpenAPI document: it is ${value === null ? "empty" : "not a map"}`,
    );
  const { openapi, swagger } = value;
  if (swagger !== undefined)
    throw createError(
      locate(["swagger"]),
      `this is a Swagger ${String(swagger)} document; convert it to OpenAPI 3.0 or 3.1, for example with swagger2openapi`,
    );
  if (openapi === undefined)
    throw createError(
      top,
      "this is not an OpenAPI document: it has no `openapi` with its version, such as 3.1.0",
    );
  if (typeof openapi !== "string" || !VERSION.test(openapi)) {
    const isShort = /^v?3(\.[012](\.\d+)?)?$/.test(String(openapi));
    const message = isShort
      ? `the version must be a text with three numbers, such as "3.1.0", not ${JSON.stringify(openapi)}`
      : `OpenAPI ${JSON.stringify(openapi)} is not supported; 3.0, 3.1 and 3.2 are`;
    throw createError(locate(["openapi"]), message);
  }
  return value;
}
