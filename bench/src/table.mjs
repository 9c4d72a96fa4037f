import { formatFigure } from "./rows.mjs";

const HEADINGS = ["what", "subject", "value", "baseline", "ratio", "goal", "met"];

function formatCells(row) {
  return [
    row.what,
    row.subject,
    row.value === null
      ? `not measured: ${(row.note ?? "").split("\n")[0].slice(0, 90)}`
      : formatFigure(row.value, row.unit),
    row.baseline ?? "",
    row.ratio === null ? "" : row.ratio.toFixed(2),
    row.goal ?? "",
    row.met === null ? "" : row.met ? "yes" : "NO",
  ];
}

/** Formats the rows as an aligned table for a terminal. */
export function toTextTable(rows) {
  const lines = [HEADINGS, ...rows.map(formatCells)];
  const widths = HEADINGS.map((_, column) =>
    Math.max(
      ...lines.map((line) => (column === 2 && line[2].startsWith("not measured") ? 0 : line[column].length)),
    ),
  );
  const align = (line) =>
    line
      .map((cell, column) => pad(cell, widths[column], column))
      .join("  ")
      .trimEnd();
  const [heading, ...body] = lines.map(align);
  return [heading, widths.map((width) => "-".repeat(width)).join("  "), ...body].join("\n");
}

const RIGHT_ALIGNED = new Set([2, 4]);
function pad(text, width, column) {
  return RIGHT_ALIGNED.has(column) ? text.padStart(width) : text.padEnd(width);
}

/** Formats them as Markdown. */
export function toMarkdownTable(rows) {
  const formatLine = (values) => `| ${values.map((value) => value.replaceAll("|", "\\|")).join(" | ")} |`;
  const rule = `|${HEADINGS.map((_, column) => (RIGHT_ALIGNED.has(column) ? "---:" : "---")).join("|")}|`;
  return [formatLine(HEADINGS), rule, ...rows.map((row) => formatLine(formatCells(row)))].join("\n");
}
