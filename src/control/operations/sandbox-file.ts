import { Type } from "typebox";
import { fromLooseBase64 } from "../../engine/bytes.ts";
import { RawBody, Reply } from "../../engine/contract/reply.ts";
import { ClosedObject } from "../../engine/contract/schema.ts";
import { type ControlOperation, OptionalText, operation, waitForDeliveries } from "../operation.ts";
import { SandboxBody } from "../sandbox-body.ts";
import { MAX_FILE_BYTES, SANDBOX_FILE_TYPE } from "../sandbox-file/sandbox-file.ts";

const OpenInput = ClosedObject(
  {
    file: Type.String({ minLength: 1, description: "The bytes of the file, in base64" }),
    name: OptionalText("By default the name in the file, with a number if that name is in use"),
  },
  { $id: "OpenInput", examples: [{ file: "H4sIAAAAAAAA…" }] },
);

export const SANDBOX_FILE_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "sandboxes.export",
    section: "interfaces 19",
    route: "POST /_control/sandboxes/{name}/export",
    summary: "Export the sandbox as a file for `understudy open` and the viewer",
    description:
      "World, timeline with its states, journal, settings and scenarios, compressed; secrets are replaced as in bundles.",
    reads: true,
    success: { status: 200, content_types: [SANDBOX_FILE_TYPE] },
    async handle({ sandbox, server }) {
      await waitForDeliveries(sandbox);
      sandbox.world.catchUp();
      const { exportSandboxFile } = await import("../sandbox-file/export-sandbox-file.ts");
      return new RawBody(SANDBOX_FILE_TYPE, await exportSandboxFile(sandbox, server));
    },
  }),
  operation({
    id: "sandboxes.open",
    section: "interfaces 19",
    route: "POST /_control/open",
    summary:
      "Create a sandbox from an exported file, in base64. The clock is frozen at the time of the export",
    body: { kind: "json", schema: OpenInput, limit: Math.ceil(MAX_FILE_BYTES * 1.4) },
    errors: ["name-in-use", "limit-reached"],
    success: { status: 201, schema: SandboxBody },
    async handle({ body: { file, name }, server, site }) {
      const { openSandboxFile } = await import("../sandbox-file/open-sandbox-file.ts");
      return new Reply(201, await openSandboxFile({ server, site }, fromLooseBase64(file), name));
    },
  }),
];
