import { Bundle, BundleRefusal } from "../../tools/bundle/bundle.ts";
import { type ControlOperation, operation, waitForDeliveries } from "../operation.ts";
import { conflict } from "../problem.ts";

export const BUNDLE_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "bundle.make",
    route: "POST /_control/sandboxes/{name}/bundle",
    summary: "Export requests and changes as a file for `understudy replay`",
    description:
      "Contains the fixture, seed, clock, settings and scenarios, and in order the requests, the control calls that changed something, and the answers. Credentials are replaced by placeholders, so masking loses nothing.",
    reads: true,
    errors: ["not-replayable", "journal-incomplete"],
    success: { status: 200, schema: Bundle },
    async handle({ sandbox, server }) {
      const recording = server.recordings.find(sandbox);
      if (recording === undefined)
        throw conflict(
          "not-replayable",
          "This server keeps no record of control calls",
          "start it with `understudy start`",
        );
      await waitForDeliveries(sandbox);
      const { makeBundle } = await import("../../tools/bundle/make-bundle.ts");
      try {
        return makeBundle(sandbox, recording, {
          version: server.version,
          scenarios: server.scenarios,
          delay: server.faults.delay,
        });
      } catch (error) {
        throw error instanceof BundleRefusal ? conflict(error.kind, error.message, error.advice) : error;
      }
    },
  }),
];
