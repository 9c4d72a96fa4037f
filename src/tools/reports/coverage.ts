import { type Static, Type } from "typebox";
import { spellCode } from "../../engine/contract/envelopes.ts";
import { CATALOGUE, type ErrorCode } from "../../engine/contract/errors.ts";
import {
  type AnyOperation,
  listErrorCodes,
  listSuccesses,
  METHODS,
} from "../../engine/contract/operation.ts";
import { ClosedObject, Nullable, StringEnum, withLibraryType } from "../../engine/contract/schema.ts";
import type { OutcomeCounts } from "../../engine/sandbox/counters.ts";

const Percent = Type.Number({ minimum: 0, maximum: 100, description: "With one decimal, rounded down" });
const Count = Type.Integer({ minimum: 0 });
const CoveredShare = { percent: Percent, covered: Count, total: Count };

const CoveredOutcome = ClosedObject({
  status: Type.Integer(),
  code: Nullable(
    withLibraryType(
      "ErrorCode",
      Type.Unsafe<ErrorCode>({
        type: "string",
        description: "Null for a success, and for an error of a user's document",
      }),
    ),
  ),
  sent_code: Type.Optional(
    Type.String({ description: "The code in the answer, if the operation spells it in its own way" }),
  ),
  hits: Count,
});
type CoveredOutcome = Static<typeof CoveredOutcome>;

const CoveredOperation = ClosedObject({
  operation: Type.String(),
  section: Type.String(),
  own: Type.Optional(Type.String({ description: "The file that declares a user's own operation" })),
  method: StringEnum(METHODS),
  path: Type.String(),
  percent: Percent,
  outcomes: Type.Array(CoveredOutcome, { description: "The documented outcomes, each with its hits" }),
  other: Type.Array(ClosedObject({ outcome: Type.String(), hits: Count }), {
    description: "Undocumented outcomes: bare 5xx of faults, and `0` for no answer",
  }),
});
export type CoveredOperation = Static<typeof CoveredOperation>;

/** Hits of each documented outcome of each operation (interfaces.md 4). */
export const CoverageMatrix = ClosedObject(
  {
    ...CoveredShare,
    own: Type.Optional(
      ClosedObject(CoveredShare, {
        description: "The same for users' own operations, which the other figures leave out",
      }),
    ),
    operations: Type.Array(CoveredOperation),
  },
  { $id: "CoverageMatrix", examples: [{ percent: 12.5, covered: 1, total: 8, operations: [] }] },
);
export type CoverageMatrix = Static<typeof CoverageMatrix>;

/** `counts` are of one sandbox, or the sum of several. */
export function buildCoverageMatrix(
  operations: readonly AnyOperation[],
  counts: OutcomeCounts,
): CoverageMatrix {
  const rows = operations.map((operation) => toCoveredOperation(operation, counts));
  const own = rows.filter((row) => row.own !== undefined);
  return {
    ...countCovered(rows.filter((row) => row.own === undefined)),
    ...(own.length > 0 && { own: countCovered(own) }),
    operations: rows,
  };
}

function countCovered(rows: readonly CoveredOperation[]) {
  const outcomes = rows.flatMap((row) => row.outcomes);
  const covered = outcomes.filter(({ hits }) => hits > 0).length;
  return { percent: calculatePercentage(covered, outcomes.length), covered, total: outcomes.length };
}

function toCoveredOperation(operation: AnyOperation, counts: OutcomeCounts): CoveredOperation {
  const hits = counts.get(operation.id);
  // An error that the document describes without an example has the envelope, and is counted by the code there.
  const countStatus = (status: number) => (hits.get(status) ?? 0) + (hits.get(`HTTP_${status}`) ?? 0);
  const successes = listSuccesses(operation).map(({ status }) => status);
  const errors = listErrorCodes(operation).map((code) => {
    const sent_code = spellCode(code, operation.envelope, operation);
    return {
      status: CATALOGUE[code].status as number,
      code,
      ...(sent_code !== code && { sent_code }),
      hits: hits.get(code) ?? 0,
    };
  });
  const { responses = {} } = (operation.openapi?.operation ?? {}) as { responses?: object };
  const otherStatuses = Object.keys(responses)
    .map(Number)
    .filter(
      (status) => status >= 200 && ![...successes, ...errors.map((one) => one.status)].includes(status),
    );
  const toOutcome = (status: number) => ({ status, code: null, hits: countStatus(status) });
  const outcomes: CoveredOutcome[] = [
    ...successes.map(toOutcome),
    ...[...errors, ...otherStatuses.map(toOutcome)].sort((a, b) => a.status - b.status),
  ];
  const documented = new Set<string | number>(
    outcomes.flatMap(({ status, code }) => code ?? [status, `HTTP_${status}`]),
  );
  const other = [...hits].filter(([outcome]) => !documented.has(outcome));
  return {
    operation: operation.id,
    section: operation.section,
    ...(operation.sourceFile !== undefined && { own: operation.sourceFile }),
    method: operation.method,
    path: operation.path,
    percent: calculatePercentage(outcomes.filter((one) => one.hits > 0).length, outcomes.length),
    outcomes,
    other: other.map(([outcome, count]) => ({ outcome: String(outcome), hits: count })),
  };
}

/** Rounded down, so that only full coverage is 100. */
function calculatePercentage(part: number, whole: number): number {
  return whole === 0 ? 100 : Math.floor((part / whole) * 1000) / 10;
}
