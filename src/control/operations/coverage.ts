import { noContent, RawBody } from "../../engine/contract/reply.ts";

import { CoverageMatrix, coverageMatrix } from "../../tools/reports/coverage.ts";
import { type ControlOperation, OfSandbox, operation, S } from "../operation.ts";
import { unknownWord, WHERE } from "../problem.ts";

const showCoverage = operation({
  id: "coverage.show",
  section: "interfaces 4",
  method: "GET",
  path: `${S}/coverage`,
  summary: "Show which documented outcomes of each operation were seen, and how often",
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
  summary: "Show the coverage as a heat map, on a page that needs no network",
  params: OfSandbox,
  errors: [],
  success: { status: 200, content_types: ["text/html"] },
  async handle({ sandbox, server }) {
    const { coverageHtml } = await import("../../tools/reports/coverage-html.ts");
    const matrix = coverageMatrix(server.operations, sandbox.outcomes);
    return new RawBody(
      "text/html; charset=utf-8",
      coverageHtml(matrix, `Coverage of ${sandbox.name}`, `/_console/s/${sandbox.name}`),
    );
  },
});

const clearCoverage = operation({
  id: "coverage.clear",
  section: "interfaces 4",
  method: "DELETE",
  path: `${S}/coverage`,
  summary: "Clear the coverage counts; a reset of the sandbox leaves them",
  params: OfSandbox,
  errors: [],
  success: { status: 204 },
  handle({ sandbox }) {
    sandbox.outcomes.clear();
    return noContent();
  },
});

const showAll = operation({
  id: "coverage.show_all",
  section: "interfaces 11",
  method: "GET",
  path: "/_control/coverage",
  summary: "Show the coverage of all sandboxes, including deleted ones",
  description: "Counts since the server's start, including reports from other servers.",
  errors: [],
  success: { status: 200, schema: CoverageMatrix },
  handle: ({ server }) => coverageMatrix(server.operations, server.sandboxes.outcomes()),
});

const showAllMap = operation({
  id: "coverage.map_all",
  section: "interfaces 11",
  method: "GET",
  path: "/_control/coverage.html",
  summary: "Show the coverage as a heat map, on a page that needs no network",
  errors: [],
  success: { status: 200, content_types: ["text/html"] },
  async handle({ server }) {
    const { coverageHtml } = await import("../../tools/reports/coverage-html.ts");
    const matrix = coverageMatrix(server.operations, server.sandboxes.outcomes());
    return new RawBody("text/html; charset=utf-8", coverageHtml(matrix, "Coverage of all sandboxes"));
  },
});

const report = operation({
  id: "coverage.report",
  section: "interfaces 11",
  method: "POST",
  path: "/_control/coverage",
  summary: "Add the coverage of another server, for example one in a test's own process",
  body: { kind: "json", schema: CoverageMatrix },
  errors: [],
  success: { status: 200, schema: CoverageMatrix },
  handle({ body, server: { operations, sandboxes } }) {
    const counts = body.operations.map((row, i) => {
      const found = operations.find(({ id }) => id === row.operation);
      if (found !== undefined) return { found, row };
      throw unknownWord(`operations[${i}].operation`, row.operation, {
        is: "is no operation of the emulated API",
        known: operations.map(({ id }) => id),
        where: WHERE.operations,
      });
    });
    for (const { found, row } of counts) {
      for (const { status, code, hits } of row.outcomes)
        if (hits > 0) sandboxes.past.count(found, code ?? status, hits);
      for (const { outcome, hits } of row.other) {
        if (hits > 0) sandboxes.past.count(found, /^\d+$/.test(outcome) ? Number(outcome) : outcome, hits);
      }
    }
    return coverageMatrix(operations, sandboxes.outcomes());
  },
});

export const COVERAGE_OPERATIONS: readonly ControlOperation[] = [
  showAll,
  showAllMap,
  report,
  showCoverage,
  showCoverageMap,
  clearCoverage,
];
