import type { Declaration } from "../../engine/contract/operation.ts";
import {
  listProblemKinds,
  PROBLEM_TYPE,
  PROBLEMS,
  ProblemBody,
  type ProblemKind,
} from "../../engine/contract/problems.ts";
import type { JsonObject } from "../../engine/contract/schema.ts";
import { groupBy } from "../../engine/maps.ts";
import type { Site } from "../../engine/pipeline/plain-http.ts";
import {
  type DocumentComponents,
  LOCAL_SITE,
  shareResponse,
  toHeaderRefs,
  toOpenApi,
  toPascalCase,
} from "./openapi-document.ts";

// biome-ignore lint/suspicious/noExplicitAny: declarations of every shape
type Call = Declaration<any, any, any, any, ProblemKind>;

/** Headers of every answer. */
const HEADERS: JsonObject = {
  "Cache-Control": { description: "Answers must not be cached", schema: { const: "no-store" } },
  "X-Content-Type-Options": { description: "Bodies have the declared type", schema: { const: "nosniff" } },
};

export function buildControlApiDocument(
  calls: readonly Call[],
  version: string,
  site: Pick<Site, "baseUrl"> = LOCAL_SITE,
): JsonObject {
  return toOpenApi(
    {
      info: {
        title: "Understudy's control API",
        version,
        summary:
          "Creates sandboxes, advances their clocks, changes their state, arms faults and reads the journal.",
        description:
          "Every refusal is a problem (RFC 9457) of one of the kinds that its response lists. The server only answers requests to loopback names, and from loopback pages, unless it was started with other names.",
      },
      servers: [{ url: site.baseUrl("default"), description: "The server" }],
      security: [{}, { token: [] }],
      components: {
        securitySchemes: {
          token: { type: "http", scheme: "bearer", description: "The control token of a shared server" },
        },
        headers: HEADERS,
        schemas: {},
      },
      toExtraMembers: () => ({}),
      toErrorResponses: toProblemResponses,
    },
    calls,
  );
}

/** One response per status, with the kinds of problems that it can carry; many calls share them. */
function toProblemResponses(call: Call, { schemas, responses }: DocumentComponents): JsonObject {
  const byStatus = groupBy(listProblemKinds(call), (kind): number => PROBLEMS[kind].status);
  const problem = schemas.addSchema(ProblemBody);
  return Object.fromEntries(
    [...byStatus].map(([status, kinds]) => {
      const name = kinds.map(toPascalCase).join("Or");
      return [status, shareResponse(responses, name, toProblemResponse(problem, status, kinds))];
    }),
  );
}

function toProblemResponse(problem: JsonObject, status: number, kinds: readonly ProblemKind[]): JsonObject {
  const type = { enum: kinds.map((kind) => PROBLEM_TYPE + kind) };
  return {
    description: kinds.map((kind) => `\`${kind}\`: ${PROBLEMS[kind].when}.`).join(" "),
    "x-problem-kinds": kinds,
    headers: {
      ...toHeaderRefs(HEADERS),
      ...(status === 401 ? { "WWW-Authenticate": { schema: { type: "string" } } } : {}),
    },
    content: {
      "application/problem+json": {
        schema: { allOf: [problem, { properties: { type, status: { const: status } } }] },
      },
    },
  };
}
