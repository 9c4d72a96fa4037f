import { OTHER_TYPES, SAMPLE_FILES } from "./sample-text.ts";

/** The media type in lower case, without parameters; octet-stream takes what the name says (G34). */
export function effectiveType({ mime_type, filename }: { mime_type: string; filename: string }): string {
  const type = mime_type.split(";")[0]!.trim().toLowerCase();
  return type === "application/octet-stream" ? typeOf(filename) : type;
}

/** By the name's extension. */
export function typeOf(filename: string): string {
  const extension = /\.[^.]+$/.exec(filename)?.[0].toLowerCase() ?? "";
  const known = SAMPLE_FILES.find((sample) => extension !== "" && sample.filename.endsWith(extension));
  const other = Object.hasOwn(OTHER_TYPES, extension) ? OTHER_TYPES[extension] : undefined;
  return (known ?? other)?.mime_type ?? "application/octet-stream";
}

/** A name for a file of this type, such as a sample has; one of an unknown type says nothing of it. */
export function nameFor(mime_type: string): string {
  const known = [...SAMPLE_FILES, ...Object.values(OTHER_TYPES)].find(
    (sample) => sample.mime_type === mime_type,
  );
  return known?.filename ?? "attachment.bin";
}
