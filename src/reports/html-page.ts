import packageJson from "../../package.json" with { type: "json" };
import { PAGE_STYLE } from "./page-style.ts";

export interface HtmlPage {
  title: string;
  /** Added to what all pages share. */
  style: string;
  /** Markup, with everything that is not ours escaped. */
  body: string;
  /** When what it tells of was measured; now, where that isn't known. */
  made?: Date;
}

/** A report as one page that needs neither network nor scripts, and could not use them. */
export function htmlPage({ title, style, body, made = new Date() }: HtmlPage): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title>
<style>${PAGE_STYLE}${style}</style>
</head>
<body>
<main>
${body}
</main>
<footer>Understudy ${escapeHtml(packageJson.version)}, ${instantHtml(made.toISOString())} UTC</footer>
</body>
</html>
`;
}

/** An ISO instant for people: its date and time in UTC, to the second. */
export function instantHtml(iso: string): string {
  const text = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(iso) ? iso.slice(0, 19).replace("T", " ") : iso;
  return `<time datetime="${escapeHtml(iso)}">${escapeHtml(text)}</time>`;
}

/** Prose of ours in which code stands in backticks. */
export function proseHtml(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
