import { toValidator } from "../../engine/contract/validator.ts";
import { DocumentError } from "../../engine/documents/document-error.ts";
import { BUNDLE_FORMAT, BUNDLE_VERSION, Bundle } from "./bundle.ts";

/**
 * A bundle from its file's text.
 * @throws DocumentError when it is no bundle, or one of a newer Understudy
 */
export function readBundle(text: string, file: string): Bundle {
  const refuse = (field: string, message: string) => {
    throw new DocumentError([{ file, line: 0, column: 0, field, message }]);
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refuse("", `this is no JSON: ${(error as Error).message}`) as never;
  }
  const { format, version } = (value ?? {}) as { format?: unknown; version?: unknown };
  if (format !== BUNDLE_FORMAT) refuse("format", "this is no bundle; make one with POST S/bundle");
  if (typeof version === "number" && version > BUNDLE_VERSION) {
    refuse(
      "version",
      `this bundle has version ${version}, made by a newer Understudy; this one reads up to ${BUNDLE_VERSION}`,
    );
  }
  const validate = toValidator(Bundle);
  if (!validate(value)) {
    const { instancePath, message } = validate.errors![0]!;
    refuse(instancePath, `the bundle is damaged: ${instancePath || "it"} ${message}`);
  }
  return value as Bundle;
}
