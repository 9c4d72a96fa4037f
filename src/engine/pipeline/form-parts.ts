import type { TObject } from "typebox";
import { countUtf8Bytes } from "../bytes.ts";
import { ApiError, invalidInput } from "../contract/errors.ts";
import { toMediaType } from "../contract/media-types.ts";
import type { BodySpec, ReceivedFile } from "../contract/operation.ts";
import { cutText } from "../contract/text.ts";
import { parseInteger } from "./read-query.ts";

export type FormSpec = Extract<BodySpec, { kind: "multipart" }>;
/** The texts as they were sent; a list if a field came in several parts. */
export type FormTexts = Record<string, string | string[]>;

export const MAX_PARTS = 100;
/** Maximum size of all text fields of a form together, since they are stored in memory. */
export const MAX_TEXT_BYTES = 1024 * 1024;
const MAX_VALUE_LENGTH = 100;

export function findBoundary(contentType: string): string | undefined {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]*)"|([^\s;]*))/i.exec(contentType) ?? [];
  return (quoted ?? plain) || undefined;
}

/** The type of a form, with its boundary in quotes, since parsers read values without them strictly. */
export function toFormType(contentType: string): string {
  const boundary = findBoundary(contentType);
  return boundary === undefined ? contentType : `multipart/form-data; boundary="${boundary}"`;
}

/** The name of a file without the folders of its path, and with the quotes and line ends that browsers encode. */
export const toFileName = (sent: string) =>
  sent.replace(/^.*[\\/]/, "").replace(/%(22|0A|0D)/gi, (code) => decodeURIComponent(code));

/** The error for a form that cannot be read: `reason`, unless its type or its beginning is wrong. */
export function createFormError(contentType: string, start: string, reason: string): ApiError {
  const cause = explainUnreadable(contentType, start) ?? reason;
  return invalidInput("body", null, `the multipart form cannot be read: ${cause}`);
}

function explainUnreadable(contentType: string, start: string): string | undefined {
  const boundary = findBoundary(contentType);
  if (boundary === undefined) return "its Content-Type has no boundary; let the HTTP client set this header";
  if (start.includes(`--${boundary}\n`)) return "its lines must end with CR and LF";
  return start === "" || start.includes(`--${boundary}`)
    ? undefined
    : `no part begins with --${boundary.slice(0, MAX_VALUE_LENGTH)}, the boundary of its Content-Type`;
}

export function createPartTooLargeError(field: string, limit_bytes: number): ApiError {
  return new ApiError("PAYLOAD_TOO_LARGE", { details: { field, limit_bytes } });
}

export function createTooManyPartsError(): ApiError {
  return new ApiError("PAYLOAD_TOO_LARGE", { details: { limit_parts: MAX_PARTS } });
}

/** The parts of a multipart form by its declaration, which all hosts read alike. */
export class FormParts {
  readonly sentTexts: FormTexts = Object.create(null);
  readonly files: Record<string, ReceivedFile> = {};
  private readonly spec: FormSpec;
  private readonly types: ReadonlyMap<string, string | undefined>;
  private textBytes = 0;

  constructor(spec: FormSpec) {
    this.spec = spec;
    const { properties } = spec.fields as TObject;
    this.types = new Map(
      Object.entries(properties).map(([name, schema]) => [name, (schema as { type?: string }).type]),
    );
  }

  /** The declared name of a part: many clients write a list's name as `tags[]`. */
  toDeclaredName(sent: string): string {
    const baseName = sent.replace(/\[\]$/, "");
    return this.types.has(baseName) || this.findFileSpec(baseName) !== undefined ? baseName : sent;
  }

  findFileSpec(name: string): FormSpec["files"][string] | undefined {
    return Object.hasOwn(this.spec.files, name) ? this.spec.files[name] : undefined;
  }

  /**
   * Only a list, or a field that is not declared, may be in several parts.
   * @throws ApiError INVALID_INPUT; PAYLOAD_TOO_LARGE if all texts together are too large
   */
  addText(name: string, text: string): void {
    this.textBytes += name.length + countUtf8Bytes(text);
    if (this.textBytes > MAX_TEXT_BYTES) throw createPartTooLargeError(name, MAX_TEXT_BYTES);
    const createError = (reason: string) =>
      invalidInput(name, cutText(text, MAX_VALUE_LENGTH), `${name} ${reason}`);
    if (this.findFileSpec(name) !== undefined) throw createError("must be a file");
    const before = this.sentTexts[name];
    const isSingle = this.types.has(name) && this.types.get(name) !== "array";
    if (before !== undefined && isSingle) throw createError("was sent twice");
    this.sentTexts[name] = before === undefined ? text : [before, text].flat();
  }

  /** Whether a part with a file name is a JSON field: browsers name every blob. @throws ApiError INVALID_INPUT for a text */
  isJsonField(name: string, filename: string | undefined): boolean {
    if (!this.types.has(name)) return false;
    if (["object", "array"].includes(this.types.get(name)!)) return true;
    throw invalidInput(name, filename ?? null, `${name} must be a text field, not a file`);
  }

  /** The key of the next file of this name in `files`. @throws ApiError INVALID_INPUT, UNSUPPORTED_MEDIA_TYPE */
  createFileKey(name: string, { filename, type }: { filename: string | undefined; type: string }): string {
    const { types, maxCount = 1 } = this.findFileSpec(name)!;
    const count = Object.keys(this.files).filter((key) => key === name || key.startsWith(`${name}[`)).length;
    if (count >= maxCount) {
      const reason = maxCount === 1 ? "was sent twice" : `must be at most ${maxCount} files`;
      throw invalidInput(name, filename ?? null, `${name} ${reason}`);
    }
    if (types !== undefined && !types.includes(toMediaType(type)))
      throw new ApiError("UNSUPPORTED_MEDIA_TYPE", {
        details: { field: name, value: type },
        system_message: `${name} must be ${types.join(", ")}.`,
      });
    return count === 0 ? name : `${name}[${count}]`;
  }

  /** Form fields are text; whole numbers become numbers if the schema asks for them. */
  toFields(): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(this.sentTexts).map(([name, text]) => {
        const isInteger = this.types.get(name) === "integer";
        return [name, (isInteger ? parseInteger(text as string) : undefined) ?? text];
      }),
    );
  }
}

/** The value of a JSON text; any other text stays as it is. */
export function parseIfJson(text: unknown): unknown {
  try {
    return typeof text === "string" ? JSON.parse(text) : text;
  } catch {
    return text;
  }
}
