/** Names and types of made-up files. */
export const SAMPLE_FILES = [
  { filename: "onboarding-guide.pdf", mime_type: "application/pdf" },
  { filename: "travel-policy.md", mime_type: "text/markdown" },
  { filename: "release-notes.txt", mime_type: "text/plain" },
  { filename: "price-list.csv", mime_type: "text/csv" },
  { filename: "security-checklist.pdf", mime_type: "application/pdf" },
  { filename: "product-catalog.json", mime_type: "application/json" },
  { filename: "support-macros.md", mime_type: "text/markdown" },
  { filename: "quarterly-report.pdf", mime_type: "application/pdf" },
] as const;

/** Other types by extension, with the name of a made-up file of that type. */
const OTHER_TYPES: Readonly<Record<string, { mime_type: string; filename: string }>> = {
  ".png": { mime_type: "image/png", filename: "floor-plan.png" },
  ".jpg": { mime_type: "image/jpeg", filename: "team-photo.jpg" },
  ".jpeg": { mime_type: "image/jpeg", filename: "team-photo.jpeg" },
  ".webp": { mime_type: "image/webp", filename: "banner.webp" },
  ".gif": { mime_type: "image/gif", filename: "assembly-steps.gif" },
  ".svg": { mime_type: "image/svg+xml", filename: "logo.svg" },
  ".html": { mime_type: "text/html", filename: "newsletter.html" },
  ".xml": { mime_type: "application/xml", filename: "parts-catalog.xml" },
  ".zip": { mime_type: "application/zip", filename: "drawings.zip" },
  ".mp3": { mime_type: "audio/mpeg", filename: "interview.mp3" },
  ".wav": { mime_type: "audio/wav", filename: "interview.wav" },
  ".mp4": { mime_type: "video/mp4", filename: "safety-training.mp4" },
  ".docx": {
    mime_type: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    filename: "meeting-minutes.docx",
  },
  ".xlsx": {
    mime_type: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    filename: "budget.xlsx",
  },
  ".pptx": {
    mime_type: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    filename: "roadmap.pptx",
  },
};

/** The media type in lower case, without parameters; octet-stream is replaced by the type of the name (G34). */
export function effectiveType({ mime_type, filename }: { mime_type: string; filename: string }): string {
  const type = mime_type.split(";")[0]!.trim().toLowerCase();
  return type === "application/octet-stream" ? detectType(filename) : type;
}

/** The media type of a file name, by its extension. */
export function detectType(filename: string): string {
  const extension = /\.[^.]+$/.exec(filename)?.[0].toLowerCase() ?? "";
  const known = SAMPLE_FILES.find((sample) => extension !== "" && sample.filename.endsWith(extension));
  const other = Object.hasOwn(OTHER_TYPES, extension) ? OTHER_TYPES[extension] : undefined;
  return (known ?? other)?.mime_type ?? "application/octet-stream";
}

/** A file name for a media type. */
export function suggestName(mime_type: string): string {
  const known = [...SAMPLE_FILES, ...Object.values(OTHER_TYPES)].find(
    (sample) => sample.mime_type === mime_type,
  );
  return known?.filename ?? "attachment.bin";
}
