import { noContent, RawBody } from "../../contract/operation.ts";
import { coverageMatrix } from "../../reports/coverage.ts";
import { type AnyControlOperation, controlOperation, S } from "../operation.ts";

const showCoverage = controlOperation({
  id: "coverage.show",
  method: "GET",
  path: `${S}/coverage`,
  summary: "Show which documented outcomes of which operations were seen, and how often",
  handle: ({ sandbox, server }) => coverageMatrix(server.operations, sandbox.outcomes),
});

const showCoverageMap = controlOperation({
  id: "coverage.map",
  method: "GET",
  path: `${S}/coverage.html`,
  summary: "Show the same as a heat map, on a page that needs no network",
  async handle({ sandbox, server }) {
    const { coverageHtml } = await import("../../reports/coverage-html.ts");
    const matrix = coverageMatrix(server.operations, sandbox.outcomes);
    return new RawBody("text/html; charset=utf-8", coverageHtml(matrix, `Coverage of ${sandbox.name}`));
  },
});

const clearCoverage = controlOperation({
  id: "coverage.clear",
  method: "DELETE",
  path: `${S}/coverage`,
  summary: "Count from the beginning; a reset does not",
  changes: false,
  handle({ sandbox }) {
    sandbox.outcomes.clear();
    return noContent();
  },
});

export const COVERAGE_OPERATIONS: readonly AnyControlOperation[] = [
  showCoverage,
  showCoverageMap,
  clearCoverage,
];
