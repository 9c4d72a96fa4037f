import packageJson from "../../../package.json" with { type: "json" };
import { type Html, html, trusted } from "./html.ts";
import { PAGE_STYLE } from "./page-style.ts";

export interface HtmlPage {
  title: string;
  /** Added to what all pages share. */
  style: string;
  body: Html;
  /** When what it tells of was measured; now, where that isn't known. */
  made?: Date;
}

/** A report as one page that needs neither network nor scripts, and could not use them. */
export function htmlPage({ title, style, body, made = new Date() }: HtmlPage): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${trusted(PAGE_STYLE + style)}</style>
</head>
<body>
<main>
${body}
</main>
<footer>Understudy ${packageJson.version}, ${instantHtml(made.toISOString())} UTC</footer>
</body>
</html>
`.toString();
}

/** An ISO instant for people: its date and time in UTC, to the second. */
export function instantHtml(iso: string): Html {
  const text = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(iso) ? iso.slice(0, 19).replace("T", " ") : iso;
  return html`<time datetime="${iso}">${text}</time>`;
}

/** Prose of ours in which code stands in backticks. */
export function proseHtml(text: string): Html {
  const parts = text.split(/`([^`]+)`/);
  return html`${parts.map((part, i) => (i % 2 === 0 ? part : html`<code>${part}</code>`))}`;
}
