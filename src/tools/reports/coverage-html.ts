import type { CoverageMatrix, CoveredOperation } from "./coverage.ts";
import { type Html, html, renderHtmlPage } from "./html.ts";

const STYLE = `
:root { --hit: 26 127 55; } @media (prefers-color-scheme: dark) { :root { --hit: 60 170 92; } }
body { max-width: none; }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.25rem; margin: .75rem 0; padding: 0; list-style: none; }
.legend span { display: inline-block; min-width: 2rem; margin-right: .35rem; padding: 0 .3rem; text-align: center; border: 1px solid var(--line); }
.map { overflow: auto; width: fit-content; max-width: 100%; max-height: 92vh; border: 1px solid var(--line); }
.map table { border-collapse: separate; border-spacing: 0; width: auto; }
.map th, .map td { border: 0 solid var(--line); border-width: 0 1px 1px 0; padding: .2rem .45rem; }
.map thead th { position: sticky; top: 0; z-index: 1; background: var(--page); color: var(--ink); }
.map thead th:first-child { left: 0; z-index: 3; }
.map .outcome { height: 14.5rem; padding: .4rem .2rem; text-align: center; }
.map .outcome span { writing-mode: vertical-rl; transform: rotate(180deg); font: 500 12px/1.2 system-ui, sans-serif; }
.map tbody th { position: sticky; left: 0; background: var(--page); font-weight: 500; white-space: nowrap; overflow-wrap: normal; }
.map tbody tr:hover th { background: var(--soft); }
.map small { color: var(--quiet); }
.map td { text-align: center; min-width: 1.9rem; vertical-align: middle; }
.map td.seen { text-align: right; white-space: nowrap; } .map td.other { text-align: left; overflow-wrap: normal; }
.none { background: repeating-linear-gradient(135deg, transparent 0 4px, var(--soft) 4px 5px); }
.never { color: var(--bad); background: var(--bad-soft); }
.hit { background: rgb(var(--hit) / var(--heat)); font-weight: 600; }
@media (max-width: 50rem) {
  body { padding: 1rem; }
  .map { width: auto; max-height: none; border: 0; }
  .map thead, .map .none, .map .other:empty, .legend li:has(.none) { display: none; }
  .map table, .map tbody, .map tr { display: block; }
  .map tr { padding: .5rem 0; border-bottom: 1px solid var(--line); }
  .map tbody th, .map tbody td { display: inline-block; position: static; margin: .1rem .2rem .1rem 0; border-width: 1px; white-space: normal; }
  .map tbody th { padding-left: 0; border-width: 0; }
  .map td::before { content: attr(data-head) " "; font-weight: 400; }
}
`;

/**
 * The heat map as one HTML page without scripts. With the address of a sandbox in the console, each operation links to
 * its page there.
 */
export function renderCoverageHtml(matrix: CoverageMatrix, title: string, consoleUrl?: string): string {
  const columns = listColumns(matrix);
  const heads = columns.map((key) => html`<th scope="col" class="outcome"><span>${key}</span></th>`);
  const maxHits = Math.max(
    1,
    ...matrix.operations.flatMap(({ outcomes }) => outcomes.map(({ hits }) => hits)),
  );
  const headline = `${title}: ${matrix.percent} percent`;
  return renderHtmlPage({
    title: headline,
    style: STYLE,
    body: html`<h1>${headline}</h1>
<p>${matrix.covered} of ${matrix.total} documented outcomes were seen so far.</p>
<ul class="legend">
<li><span class="hit" style="--heat: .25">1</span>seen, and how often: the more often, the stronger the green</li>
<li><span class="never">0</span>documented, never seen</li>
<li><span class="none">&nbsp;</span>not documented for this operation</li>
<li class="quiet">Other: seen without being documented, such as a fault's bare 5xx; status 0 is no answer at all</li>
</ul>
<div class="map" role="region" aria-label="Operations and their outcomes" tabindex="0"><table>
<thead><tr><th scope="col">Operation and section</th><th scope="col">Seen</th>${heads}<th scope="col">Other</th></tr></thead>
<tbody>
${matrix.operations.map((row) => renderRowHtml(row, { columns, maxHits, consoleUrl }))}</tbody>
</table></div>`,
  });
}

/** The columns of the map: each status with its code, in the order of the statuses. */
function listColumns({ operations }: CoverageMatrix): string[] {
  const statuses = new Map<string, number>();
  for (const { status, code } of operations.flatMap(({ outcomes }) => outcomes))
    statuses.set(toKey(status, code), status);
  const sorted = [...statuses].sort(([a, first], [b, second]) => first - second || (a < b ? -1 : 1));
  return sorted.map(([key]) => key);
}

/** An own operation may document an error without a code. */
function toKey(status: number, code: string | null): string {
  return code === null && status >= 400 ? `${status} as documented` : `${status} ${code ?? "success"}`;
}

function renderRowHtml(
  row: CoveredOperation,
  {
    columns,
    maxHits,
    consoleUrl,
  }: { columns: readonly string[]; maxHits: number; consoleUrl: string | undefined },
): Html {
  const hits = new Map(row.outcomes.map((outcome) => [toKey(outcome.status, outcome.code), outcome.hits]));
  const other = row.other.map((one) => `${one.outcome}: ${one.hits}`).join(", ");
  const cells = columns.map((key) => renderCellHtml(row, key, { hits: hits.get(key), maxHits }));
  const seen = `${row.outcomes.filter((one) => one.hits > 0).length} of ${row.outcomes.length}`;
  const [firstPart = "", ...parts] = row.operation.split(/(?<=[._])/);
  const name = [firstPart, ...parts.flatMap((part) => [html`<wbr>`, part])];
  const nameHtml =
    consoleUrl === undefined
      ? name
      : html`<a href="${`${consoleUrl}/coverage?operation=${encodeURIComponent(row.operation)}`}">${name}</a>`;
  return html`<tr><th scope="row" title="${row.method} ${row.path}">${nameHtml} <small>${row.section}</small></th><td class="seen" data-head="Seen">${seen}</td>${cells}<td class="other" data-head="Other:">${other}</td></tr>\n`;
}

function renderCellHtml(
  { operation }: CoveredOperation,
  key: string,
  { hits, maxHits }: { hits: number | undefined; maxHits: number },
): Html {
  if (hits === undefined) return html`<td class="none"></td>`;
  // Each cell has its own label, since the headers of a large map are out of sight.
  const title = `${operation}: ${key}`;
  if (hits === 0) return html`<td class="never" title="${title}" data-head="${key}">0</td>`;
  // On a logarithmic scale, so that an error with one hit is visible beside ten thousand polls.
  const heat = 0.25 + 0.5 * (Math.log1p(hits) / Math.log1p(maxHits));
  return html`<td class="hit" style="--heat: ${heat.toFixed(2)}" title="${title}" data-head="${key}">${hits}</td>`;
}
