// A row of the table: {what, subject, value, unit, baseline, ratio, goal, met, note}. `met` is null if a row has no
// goal or could not be measured; `note` then says why.

/** A goal for the ratio to the baseline, or for the value itself. */
export const ratioAtLeast = (limit) => ({ of: "ratio", least: limit, text: `>= ${limit} x` });
export const ratioAtMost = (limit) => ({ of: "ratio", most: limit, text: `<= ${limit} x` });
export const atLeast = (limit, unit) => ({
  of: "value",
  least: limit,
  text: `>= ${formatFigure(limit, unit)}`,
});
export const atMost = (limit, unit) => ({
  of: "value",
  most: limit,
  text: `<= ${formatFigure(limit, unit)}`,
});

export function makeRow({ what, subject = "Understudy", value, unit, baseline, ratio, goal, note }) {
  return {
    what,
    subject,
    value,
    unit,
    baseline: baseline ?? null,
    ratio: ratio ?? null,
    goal: goal?.text ?? null,
    met: goal ? isMet(goal, goal.of === "ratio" ? ratio : value) : null,
    note: note ?? null,
  };
}

function isMet(goal, measured) {
  if (!Number.isFinite(measured)) return false;
  return goal.least !== undefined ? measured >= goal.least : measured <= goal.most;
}

/** The row of a measure or subject that could not be measured. */
export function toFailedRow(what, subject, error) {
  const note = String(error?.message ?? error);
  return { what, subject, value: null, unit: null, baseline: null, ratio: null, goal: null, met: null, note };
}

export function formatFigure(value, unit = "") {
  if (value === null || value === undefined) return "-";
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 1 ? 1 : 3;
  const text = value.toLocaleString("en-US", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return unit ? `${text} ${unit}` : text;
}
