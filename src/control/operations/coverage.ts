import { RawBody } from "../../engine/contract/reply.ts";
import { buildCoverageMatrix, CoverageMatrix } from "../../tools/reports/coverage.ts";
import { type ControlOperation, type ControlServer, operation } from "../operation.ts";
import { unknownWord } from "../problem.ts";

export const COVERAGE_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "coverage.show_all",
    section: "interfaces 11",
    route: "GET /_control/coverage",
    summary: "Show the coverage of all sandboxes, including deleted ones",
    description: "Counts since the server's start, including reports from other servers.",
    success: { status: 200, schema: CoverageMatrix },
    handle: ({ server }) => buildServerMatrix(server),
  }),
  operation({
    id: "coverage.map_all",
    section: "interfaces 11",
    route: "GET /_control/coverage.html",
    summary: "Show the coverage as a heat map",
    success: { status: 200, content_types: ["text/html"] },
    handle: ({ server }) => renderHeatMap(buildServerMatrix(server), "all sandboxes"),
  }),
  operation({
    id: "coverage.report",
    section: "interfaces 11",
    route: "POST /_control/coverage",
    summary: "Add the coverage that another server counted",
    body: { kind: "json", schema: CoverageMatrix },
    success: { status: 200, schema: CoverageMatrix },
    handle({ body, server }) {
      const ids = server.getApi().operations.map(({ id }) => id);
      for (const [i, { operation: id }] of body.operations.entries())
        if (!ids.includes(id)) throw unknownWord("operation", `operations[${i}].operation`, id, ids);
      const { additionalOutcomes } = server.sandboxes;
      for (const { operation: id, outcomes, other } of body.operations) {
        for (const { status, code, hits } of outcomes)
          if (hits > 0) additionalOutcomes.count(id, code ?? status, hits);
        for (const { outcome, hits } of other)
          if (hits > 0) additionalOutcomes.count(id, /^\d+$/.test(outcome) ? Number(outcome) : outcome, hits);
      }
      return buildServerMatrix(server);
    },
  }),
  operation({
    id: "coverage.show",
    route: "GET /_control/sandboxes/{name}/coverage",
    summary: "Show by operation which documented outcomes were seen",
    success: { status: 200, schema: CoverageMatrix },
    handle: ({ sandbox }) => buildCoverageMatrix(sandbox.api.operations, sandbox.outcomes),
  }),
  operation({
    id: "coverage.map",
    route: "GET /_control/sandboxes/{name}/coverage.html",
    summary: "Show the coverage as a heat map",
    success: { status: 200, content_types: ["text/html"] },
    handle: ({ sandbox: { api, name, outcomes } }) =>
      renderHeatMap(buildCoverageMatrix(api.operations, outcomes), name, `/_console/s/${name}`),
  }),
  operation({
    id: "coverage.clear",
    route: "DELETE /_control/sandboxes/{name}/coverage",
    summary: "Clear the counts of the coverage. A reset of the sandbox keeps them",
    success: { status: 204 },
    handle: ({ sandbox }) => sandbox.outcomes.clear(),
  }),
];

function buildServerMatrix({ getApi, sandboxes }: ControlServer): CoverageMatrix {
  return buildCoverageMatrix(getApi().operations, sandboxes.sumOutcomes());
}

async function renderHeatMap(matrix: CoverageMatrix, subject: string, consoleUrl?: string): Promise<RawBody> {
  const { renderCoverageHtml } = await import("../../tools/reports/coverage-html.ts");
  return new RawBody("text/html", renderCoverageHtml(matrix, `Coverage of ${subject}`, consoleUrl));
}
