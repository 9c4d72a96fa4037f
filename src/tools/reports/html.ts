import { htmlEscape } from "escape-goat";
import packageJson from "../../../package.json" with { type: "json" };

/** Markup that is not escaped. `html` creates it; the constructor is for our own text, such as a style sheet. */
export class Html {
  private readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }

  toString(): string {
    return this.markup;
  }
}

type TemplateValue = Html | string | number | readonly (Html | string)[];

/**
 * A template that escapes its interpolations unless they are markup, so that hostile names are shown as
 * text. Attributes must have quotes, since a space in a value would otherwise begin another attribute.
 * @throws TypeError if an attribute has none
 */
export function html(strings: TemplateStringsArray, ...values: readonly TemplateValue[]): Html {
  let markup = strings[0]!;
  for (const [i, value] of values.entries()) {
    if (strings[i]!.endsWith("=")) throw new TypeError(`an attribute without quotes: ${strings[i]}`);
    markup += escapeHtml(value) + strings[i + 1]!;
  }
  return new Html(markup);
}

function escapeHtml(value: TemplateValue): string {
  if (value instanceof Html) return value.toString();
  return typeof value === "object" ? value.map(escapeHtml).join("") : htmlEscape(String(value));
}

interface HtmlPage {
  title: string;
  /** Added to the style of all pages. */
  style: string;
  body: Html;
  /** The time of the results; now by default. */
  measuredAt?: Date;
}

/** A report as one HTML page, which cannot use the network or scripts. */
export function renderHtmlPage({ title, style, body, measuredAt = new Date() }: HtmlPage): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${new Html(PAGE_STYLE + style)}</style>
</head>
<body>
<main>
${body}
</main>
<footer>Understudy ${packageJson.version}, ${renderInstantHtml(measuredAt.toISOString())} UTC</footer>
</body>
</html>
`.toString();
}

/** Shows an ISO instant to readers: date and time in UTC, to the second. */
export function renderInstantHtml(iso: string): Html {
  const text = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(iso) ? iso.slice(0, 19).replace("T", " ") : iso;
  return html`<time datetime="${iso}">${text}</time>`;
}

/** Renders our own prose, with code in backticks. */
export function renderProseHtml(text: string): Html {
  const parts = text.split(/`([^`]+)`/);
  return html`${parts.map((part, i) => (i % 2 === 0 ? part : html`<code>${part}</code>`))}`;
}

/**
 * The style of all HTML reports. On a phone a table with the class `stacks` shows each row as a block, every cell with
 * the name of its column. Text has a contrast of at least 4.5 to its background in both colour schemes.
 */
const PAGE_STYLE = `:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1c2128; --quiet: #57606a; --soft: #f4f5f7; --line: #d5d9df; --link: #0958c5;
  --ok: #186a31; --ok-soft: #e2f3e6; --bad: #b3202c; --bad-soft: #fde8e8; --open: #805500; --open-soft: #fbf0d5;
  font: 15px/1.5 system-ui, sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171c; --ink: #e3e6ea; --quiet: #9aa4b0; --soft: #1f242b; --line: #363d47; --link: #7db4ff;
    --ok: #63d084; --ok-soft: #16301f; --bad: #ff8d85; --bad-soft: #3a1d1f; --open: #e0b04a; --open-soft: #352a12;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 78rem; padding: 1.5rem; background: var(--page); color: var(--ink); overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0; }
h2 { font-size: 1.15rem; line-height: 1.3; margin: 2.25rem 0 .6rem; }
h3 { font-size: 1rem; margin: 0; }
p { margin: .4rem 0; }
a { color: var(--link); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
code, pre { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: .4rem 0; padding: .6rem .75rem; white-space: pre-wrap; background: var(--soft); border-radius: 4px; }
summary { cursor: pointer; }
.quiet, footer { color: var(--quiet); }
footer { margin-top: 3rem; padding-top: .75rem; border-top: 1px solid var(--line); font-size: .87rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; overflow-wrap: break-word; padding: .4rem .6rem; border-bottom: 1px solid var(--line); }
thead th { color: var(--quiet); font-size: .87rem; font-weight: 600; white-space: nowrap; vertical-align: bottom; }
.number { text-align: right; }
.badge { display: inline-block; padding: .05rem .5rem; border-radius: 1rem; font-size: .87rem; font-weight: 600; white-space: nowrap; color: var(--quiet); background: var(--soft); }
.badge.passed { color: var(--ok); background: var(--ok-soft); }
.badge.failed, .badge.error { color: var(--bad); background: var(--bad-soft); }
.badge.not-observable { color: var(--open); background: var(--open-soft); }
@media (max-width: 40rem) {
  body { padding: 1rem; }
  .stacks { min-width: 0; }
  .stacks thead { display: none; }
  .stacks, .stacks tbody, .stacks tr, .stacks th, .stacks td { display: block; width: auto; }
  .stacks tr { padding: .5rem 0; border-bottom: 1px solid var(--line); }
  .stacks tbody th, .stacks tbody td { padding: .1rem 0; border: 0; text-align: left; white-space: normal; overflow-wrap: anywhere; }
  .stacks td[data-head]::before { content: attr(data-head) ": "; color: var(--quiet); }
}
`;
