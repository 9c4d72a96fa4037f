import { noContent, RawBody } from "../../contract/operation.ts";
import { CoverageMatrix, coverageMatrix } from "../../reports/coverage.ts";
import { type ControlOperation, OfSandbox, operation, S } from "../operation.ts";

const showCoverage = operation({
  id: "coverage.show",
  section: "interfaces 4",
  method: "GET",
  path: `${S}/coverage`,
  summary: "Show which documented outcomes of which operations were seen, and how often",
  params: OfSandbox,
  errors: [],
  success: { status: 200, schema: CoverageMatrix },
  handle: ({ sandbox, server }) => coverageMatrix(server.operations, sandbox.outcomes),
});

const showCoverageMap = operation({
  id: "coverage.map",
  section: "interfaces 4",
  method: "GET",
  path: `${S}/coverage.html`,
  summary: "Show the same as a heat map, on a page that needs no network",
  params: OfSandbox,
  errors: [],
  success: { status: 200, content_types: ["text/html"] },
  async handle({ sandbox, server }) {
    const { coverageHtml } = await import("../../reports/index.ts");
    const matrix = coverageMatrix(server.operations, sandbox.outcomes);
    return new RawBody("text/html; charset=utf-8", coverageHtml(matrix, `Coverage of ${sandbox.name}`));
  },
});

const clearCoverage = operation({
  id: "coverage.clear",
  section: "interfaces 4",
  method: "DELETE",
  path: `${S}/coverage`,
  summary: "Count from the beginning; a reset does not",
  params: OfSandbox,
  errors: [],
  success: { status: 204 },
  handle({ sandbox }) {
    sandbox.outcomes.clear();
    return noContent();
  },
});

export const COVERAGE_OPERATIONS: readonly ControlOperation[] = [
  showCoverage,
  showCoverageMap,
  clearCoverage,
];
