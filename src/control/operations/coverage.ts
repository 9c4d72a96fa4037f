import { noContent, RawBody } from "../../engine/contract/reply.ts";
import { buildCoverageMatrix, CoverageMatrix } from "../../tools/reports/coverage.ts";
import { type ControlOperation, operation } from "../operation.ts";
import { LISTING_ADVICE, unknownWord } from "../problem.ts";

export const COVERAGE_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "coverage.show_all",
    section: "interfaces 11",
    route: "GET /_control/coverage",
    summary: "Show the coverage of all sandboxes, deleted ones too",
    description: "Counts since the server's start, including reports from other servers.",
    success: { status: 200, schema: CoverageMatrix },
    handle: ({ server }) => buildCoverageMatrix(server.getApi().operations, server.sandboxes.sumOutcomes()),
  }),
  operation({
    id: "coverage.map_all",
    section: "interfaces 11",
    route: "GET /_control/coverage.html",
    summary: "Show the coverage as a heat map",
    success: { status: 200, content_types: ["text/html"] },
    handle: ({ server }) =>
      renderHeatMap(
        buildCoverageMatrix(server.getApi().operations, server.sandboxes.sumOutcomes()),
        "all sandboxes",
      ),
  }),
  operation({
    id: "coverage.report",
    section: "interfaces 11",
    route: "POST /_control/coverage",
    summary: "Add another server's coverage",
    body: { kind: "json", schema: CoverageMatrix },
    success: { status: 200, schema: CoverageMatrix },
    handle({ body, server: { getApi, sandboxes } }) {
      const { operations } = getApi();
      const ids = operations.map(({ id }) => id);
      const rows = body.operations.map((row, i) => {
        const operation = operations.find(({ id }) => id === row.operation);
        if (operation !== undefined) return { operation, row };
        throw unknownWord(`operations[${i}].operation`, row.operation, {
          problem: "is not an operation of the emulated API",
          candidates: ids,
          advice: LISTING_ADVICE.operations,
        });
      });
      for (const { operation, row } of rows) {
        for (const { status, code, hits } of row.outcomes)
          if (hits > 0) sandboxes.otherOutcomes.count(operation.id, code ?? status, hits);
        for (const { outcome, hits } of row.other)
          if (hits > 0)
            sandboxes.otherOutcomes.count(
              operation.id,
              /^\d+$/.test(outcome) ? Number(outcome) : outcome,
              hits,
            );
      }
      return buildCoverageMatrix(operations, sandboxes.sumOutcomes());
    },
  }),
  operation({
    id: "coverage.show",
    route: "GET S/coverage",
    summary: "Count the documented outcomes seen, by operation",
    success: { status: 200, schema: CoverageMatrix },
    handle: ({ sandbox }) => buildCoverageMatrix(sandbox.api.operations, sandbox.outcomes),
  }),
  operation({
    id: "coverage.map",
    route: "GET S/coverage.html",
    summary: "Show the coverage as a heat map",
    success: { status: 200, content_types: ["text/html"] },
    handle: ({ sandbox: { api, name, outcomes } }) =>
      renderHeatMap(buildCoverageMatrix(api.operations, outcomes), name, `/_console/s/${name}`),
  }),
  operation({
    id: "coverage.clear",
    route: "DELETE S/coverage",
    summary: "Clear the counts; a reset does not",
    success: { status: 204 },
    handle({ sandbox }) {
      sandbox.outcomes.clear();
      return noContent();
    },
  }),
];

async function renderHeatMap(matrix: CoverageMatrix, subject: string, consoleUrl?: string): Promise<RawBody> {
  const { renderCoverageHtml } = await import("../../tools/reports/coverage-html.ts");
  return new RawBody("text/html", renderCoverageHtml(matrix, `Coverage of ${subject}`, consoleUrl));
}
