import { typeOf } from "./make.ts";

/** The media type in lower case, without parameters; octet-stream takes what the name says (G34). */
export function effectiveType({ mime_type, filename }: { mime_type: string; filename: string }): string {
  const type = mime_type.split(";")[0]!.trim().toLowerCase();
  return type === "application/octet-stream" ? typeOf(filename) : type;
}
