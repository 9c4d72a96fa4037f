import { Type } from "typebox";
import { countUtf8Bytes } from "../../engine/bytes.ts";
import { OwnOperationError } from "../../engine/contract/errors.ts";
import type { AnyOperation } from "../../engine/contract/operation.ts";
import { RawBody } from "../../engine/contract/reply.ts";
import { ClosedObject, getExamples, ListOf } from "../../engine/contract/schema.ts";
import { pluralize } from "../../engine/contract/text.ts";
import { describeUnusable } from "../../engine/sandbox/fault-types.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { requireRoom } from "../limits.ts";
import { type ControlOperation, operation, toList } from "../operation.ts";
import { unprocessable } from "../problem.ts";
import { OpenApiDocument } from "./server.ts";

const OwnOperation = ClosedObject(
  {
    id: Type.String(),
    method: Type.String(),
    path: Type.String(),
    summary: Type.String(),
    source: Type.String({
      description: "The file that declares it; `openapi` if a request sent its document",
    }),
    scope: Type.Unsafe<"server" | "sandbox">({ enum: ["server", "sandbox"] }),
  },
  {
    $id: "OwnOperation",
    examples: [
      {
        id: "listTags",
        method: "GET",
        path: "/v1/tags",
        summary: "List tags",
        source: "openapi",
        scope: "sandbox",
      },
    ],
  },
);

export const OwnOperationsBody = ClosedObject(
  {
    ...ListOf(OwnOperation).properties,
    collections: Type.Array(Type.String(), { description: "The collections that they declare" }),
    warnings: Type.Array(Type.String(), {
      description:
        "Parts of the document that are not used, each with its place, and active scenarios that ended",
    }),
  },
  {
    $id: "OwnOperations",
    examples: [{ items: getExamples(OwnOperation), total: 1, collections: ["tags"], warnings: [] }],
  },
);

const EXAMPLE = {
  openapi: "3.1.0",
  info: { title: "Tags", version: "1" },
  paths: {
    "/v1/tags": {
      get: {
        operationId: "listTags",
        summary: "List tags",
        responses: { "200": { description: "None yet" } },
      },
    },
  },
};

/** A document of this size is a large one, and takes about a second. */
const MAX_BYTES = 16 * 1024 * 1024;

export const OWN_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "operations.list",
    section: "interfaces 18",
    route: "GET /_control/sandboxes/{name}/operations",
    summary: "List your own operations: those of the server and those of this sandbox",
    success: { status: 200, schema: OwnOperationsBody },
    handle: ({ sandbox }) => listOwnOperations(sandbox, []),
  }),
  operation({
    id: "operations.replace",
    section: "interfaces 18",
    route: "PUT /_control/sandboxes/{name}/operations",
    summary: "Serve an OpenAPI document in this sandbox, in place of an earlier one",
    body: {
      kind: "json",
      limit: MAX_BYTES,
      schema: ClosedObject(
        {
          openapi: Type.Unknown({
            description:
              "The document, 3.0 to 3.2: an object, or a text in YAML or JSON. Errors in a text have line numbers",
          }),
          bindings: Type.Optional(
            Type.Unknown({ description: "`collections` and `operations`, as in a file with bindings" }),
          ),
        },
        {
          examples: [
            { openapi: EXAMPLE },
            { openapi: EXAMPLE, bindings: { operations: { listTags: { answer: [] } } } },
          ],
        },
      ),
    },
    stays: true,
    describeChange: ({ sandbox }) => ({
      title: `The sandbox got ${pluralize(sandbox.ownResources.flatMap(({ operations }) => operations).length, "operation")} of its own.`,
    }),
    errors: ["limit-reached", "invalid-document"],
    success: { status: 200, schema: OwnOperationsBody },
    async handle({ body, sandbox, server }) {
      requireRoom(server, "upload_bytes", countUtf8Bytes(JSON.stringify(body)), "bytes of own operations");
      const { readSentOperations } = await import("../../documents/openapi/read-sent-document.ts");
      try {
        const { ownResources, warnings } = readSentOperations(body, server.getApi().resources);
        const ended = sandbox.setResources(ownResources);
        const sentences = ended.map((one) => describeUnusable(sandbox.name, one));
        return listOwnOperations(sandbox, [...warnings, ...sentences]);
      } catch (error) {
        if (!(error instanceof OwnOperationError)) throw error;
        throw unprocessable("openapi", null, `cannot be used: ${error.message}`);
      }
    },
  }),
  operation({
    id: "operations.types",
    section: "interfaces 18",
    route: "GET /_control/sandboxes/{name}/operations/types",
    summary: "Show TypeScript types of own operations, collections and events",
    success: { status: 200, content_types: ["text/plain"] },
    async handle({ sandbox }) {
      const { generateOwnTypes } = await import("../../tools/reports/own-types.ts");
      return new RawBody("text/plain; charset=utf-8", generateOwnTypes(sandbox.api));
    },
  }),
  operation({
    id: "operations.document",
    section: "interfaces 18",
    route: "GET /_control/sandboxes/{name}/openapi.json",
    summary: "Show this sandbox's API, with its own operations",
    success: { status: 200, schema: OpenApiDocument },
    async handle({ sandbox, server, site }) {
      const { buildOpenApiDocument } = await import("../../tools/reports/openapi.ts");
      return buildOpenApiDocument(sandbox.api, server.version, site);
    },
  }),
  operation({
    id: "operations.delete",
    section: "interfaces 18",
    route: "DELETE /_control/sandboxes/{name}/operations",
    summary: "Remove this sandbox's own operations, with their records",
    stays: true,
    describeChange: () => ({ title: "The sandbox lost the operations of its own." }),
    success: { status: 204 },
    handle({ sandbox }) {
      sandbox.setResources([]);
    },
  }),
];

function listOwnOperations({ api, ownResources }: Sandbox, warnings: string[]) {
  const sandboxOnly = new Set<AnyOperation>(ownResources.flatMap(({ operations }) => operations));
  const items = api.operations
    .filter(({ sourceFile }) => sourceFile !== undefined)
    .map((one) => ({
      id: one.id,
      method: one.method,
      path: one.path,
      summary: one.summary,
      source: one.sourceFile!,
      scope: sandboxOnly.has(one) ? ("sandbox" as const) : ("server" as const),
    }));
  const collections = api.resources
    .filter((resource) => resource.userSource !== undefined)
    .flatMap((resource) => resource.collections.map(({ name }) => name));
  return { ...toList(items), collections, warnings };
}
