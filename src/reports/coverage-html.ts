import type { CoverageMatrix, CoveredOperation } from "./coverage.ts";

interface Column {
  key: string;
  status: number;
  code: string | null;
}

const STYLE = `
:root { color-scheme: light dark; --line: #8886; --never: #cf222e; --hit: 26 127 55; }
@media (prefers-color-scheme: dark) { :root { --never: #ff7b72; --hit: 74 194 107; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; }
h1 { font-size: 1.4rem; } .scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border: 1px solid var(--line); padding: .25rem .45rem; }
thead th.outcome { height: 13rem; vertical-align: bottom; padding: .4rem 0; }
thead th.outcome span { writing-mode: vertical-rl; transform: rotate(180deg); font-weight: 500; font-size: 13px; }
tbody th { text-align: left; font-weight: 500; white-space: nowrap; position: sticky; left: 0; background: Canvas; }
tbody th small { opacity: .75; }
td { text-align: center; min-width: 2rem; } td.none { border-style: dotted; }
td.never { color: var(--never); } td.hit { background: rgb(var(--hit) / var(--heat)); }
td.percent { text-align: right; }
`;

/** The heat map as one page that needs neither network nor scripts. */
export function coverageHtml(matrix: CoverageMatrix, title: string): string {
  const columns = columnsOf(matrix);
  const most = Math.max(1, ...matrix.operations.flatMap(({ outcomes }) => outcomes.map(({ hits }) => hits)));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}: ${matrix.percent} percent</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escapeHtml(title)}: ${matrix.percent} percent</h1>
<p>${matrix.covered} of ${matrix.total} documented outcomes were seen. A number is how often; 0 in red was never seen; an empty cell is not documented.</p>
<div class="scroll"><table>
<thead><tr><th scope="col">Operation</th><th scope="col">%</th>${columns.map(headHtml).join("")}<th scope="col">Other</th></tr></thead>
<tbody>
${matrix.operations.map((row) => rowHtml(row, columns, most)).join("\n")}
</tbody>
</table></div>
</body>
</html>
`;
}

function columnsOf({ operations }: CoverageMatrix): Column[] {
  const columns = new Map<string, Column>();
  for (const { status, code } of operations.flatMap(({ outcomes }) => outcomes)) {
    const key = keyOf(status, code);
    columns.set(key, { key, status, code });
  }
  return [...columns.values()].sort((a, b) => a.status - b.status || (a.key < b.key ? -1 : 1));
}

function keyOf(status: number, code: string | null): string {
  return `${status} ${code ?? "success"}`;
}

function headHtml({ key }: Column): string {
  return `<th scope="col" class="outcome"><span>${escapeHtml(key)}</span></th>`;
}

function rowHtml(row: CoveredOperation, columns: readonly Column[], most: number): string {
  const hits = new Map(row.outcomes.map((outcome) => [keyOf(outcome.status, outcome.code), outcome.hits]));
  const other = row.other.map((one) => `${one.outcome}: ${one.hits}`).join(", ");
  const cells = columns.map(({ key }) => cellHtml(hits.get(key), most)).join("");
  const place = `${row.method} ${row.path}`;
  return `<tr><th scope="row" title="${escapeHtml(place)}">${escapeHtml(row.operation)} <small>${escapeHtml(row.section)}</small></th><td class="percent">${row.percent}</td>${cells}<td>${escapeHtml(other)}</td></tr>`;
}

function cellHtml(hits: number | undefined, most: number): string {
  if (hits === undefined) return '<td class="none"></td>';
  if (hits === 0) return '<td class="never">0</td>';
  // By order of magnitude: a poll of ten thousand must not pale the error that was seen once.
  const heat = 0.25 + 0.5 * (Math.log1p(hits) / Math.log1p(most));
  return `<td class="hit" style="--heat: ${heat.toFixed(2)}">${hits}</td>`;
}

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
