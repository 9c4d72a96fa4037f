import Type, { type Static } from "typebox";
import { Closed } from "../../engine/contract/schema.ts";
import { isForm } from "../../engine/contract/secret-names.ts";
import { redactBrokenJson, redactHeader, redactJson, redactQuery } from "../redact.ts";

/** One half of an exchange without secrets; fields for a schema that adds more. */
export const SHOWN_MESSAGE = {
  headers: Type.Array(Closed({ name: Type.String(), value: Type.String() }), {
    description: "As sent, secrets masked",
  }),
  body: Type.Optional(
    Type.Unknown({
      description: "JSON as a value, text as text, `{bytes}` for anything else; secrets masked",
    }),
  ),
};
export const ShownMessage = Closed(SHOWN_MESSAGE);
export type ShownMessage = Static<typeof ShownMessage>;

/** `flat` is name, value, name, value … as it went over the wire. */
export function showMessage(flat: readonly string[], bytes: Uint8Array | string | undefined): ShownMessage {
  const headers: ShownMessage["headers"] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) {
    headers.push({ name: flat[i]!, value: redactHeader(flat[i]!, flat[i + 1]!) });
  }
  if (bytes === undefined || bytes.length === 0) return { headers };
  return { headers, body: showBody(bytes, findHeader({ headers }, "content-type") ?? "") };
}

/** In lower case. */
export function findHeader({ headers }: Pick<ShownMessage, "headers">, wanted: string): string | undefined {
  return headers.find(({ name }) => name.toLowerCase() === wanted)?.value;
}

function showBody(bytes: Uint8Array | string, type: string): unknown {
  const text = decodeText(bytes);
  if (text === undefined) return { bytes: bytes.length };
  if (isForm(type)) return redactQuery(text);
  if (!/json/i.test(type)) return redactBrokenJson(text);
  try {
    return redactJson(JSON.parse(text));
  } catch {
    return redactBrokenJson(text);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Undefined for bytes that are no text. */
export function decodeText(bytes: Uint8Array | string): string | undefined {
  if (typeof bytes === "string") return bytes;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
