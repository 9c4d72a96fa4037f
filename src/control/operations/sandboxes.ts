import { Type } from "typebox";
import { isPath } from "../../documents/files.ts";
import { ClosedObject, ListOf, withLibraryType } from "../../engine/contract/schema.ts";
import { DocumentError } from "../../engine/documents/document-error.ts";
import type { LoadedFixture } from "../../engine/sandbox/sandbox-value.ts";
import type { Root } from "../../engine/state/tables.ts";
import { parseSettings, SettingsInput } from "../check-input.ts";
import { ClockInput, toClockSetting } from "../clock-input.ts";
import { Seed } from "../library-options.ts";
import { requireRoomForFixture, requireRoomForRecords } from "../limits.ts";
import { type ControlOperation, type ControlServer, OptionalFlag, operation, toList } from "../operation.ts";
import { pointWebhooksAtOwnReceivers } from "../own-receivers.ts";
import { Problem, readScenarioField, unprocessable } from "../problem.ts";
import { listSandboxes } from "../remote-sandbox.ts";
import { chooseName, createOrDiscard, NewName, renderSandbox, SandboxBody } from "../sandbox-body.ts";

const FixtureInput = withLibraryType(
  "FixtureInput",
  Type.Unsafe<string | object>({
    type: ["string", "object"],
    title: "the name of a fixture or an inline one",
    description: "The name of a fixture, or a fixture itself; only the command line reads files",
  }),
);

/**
 * A fixture comes by name or as a value (interfaces.md 4). Callers must not read the server's disk, so only the command line
 * and the configuration name files.
 * @throws Problem 422
 */
function requireNoPath(fixture: string | object | undefined): void {
  const [field, nameOrPath]: readonly [string, unknown] =
    typeof fixture === "object"
      ? ["fixture.extends", (fixture as { extends?: unknown }).extends]
      : ["fixture", fixture];
  if (typeof nameOrPath !== "string" || !isPath(nameOrPath)) return;
  throw unprocessable(
    field,
    nameOrPath,
    "takes the name of a fixture: the control API reads no files. Send the fixture itself, or give its path to the command line (`understudy start --fixture FILE`, `understudy reset --fixture FILE`)",
  );
}

export const SandboxInput = ClosedObject(
  {
    name: Type.Optional(NewName),
    fixture: Type.Optional(FixtureInput),
    seed: Type.Optional(Seed),
    clock: Type.Optional(ClockInput),
    scenarios: Type.Optional(
      Type.Array(withLibraryType("ScenarioName", Type.String()), {
        description: "Names of the scenarios that are active from the start",
      }),
    ),
    settings: Type.Optional(SettingsInput),
    origin: OptionalFlag("Whether a port is opened that serves this sandbox alone, as `origin`"),
  },
  {
    $id: "SandboxInput",
    description: "Fields that are left out default to the server's start options",
    examples: [{ name: "mine", seed: 7, clock: { mode: "frozen" } }],
  },
);

export const ResetInput = ClosedObject(
  { fixture: Type.Optional(FixtureInput), seed: Type.Optional(Seed) },
  { $id: "ResetInput", description: "What is left out stays as it is", examples: [{ seed: 7 }] },
);

export const SANDBOX_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "sandboxes.list",
    route: "GET /_control/sandboxes",
    summary: "List sandboxes in order of creation. `forks=true` adds `forked_from`",
    query: ClosedObject({
      forks: OptionalFlag("Whether each sandbox names the sandbox that it was forked from"),
    }),
    success: { status: 200, schema: ListOf(SandboxBody) },
    handle: async (call) => toList(await listSandboxes(call, call.query.forks)),
  }),
  operation({
    id: "sandboxes.create",
    route: "POST /_control/sandboxes",
    summary: "Create a sandbox",
    body: { kind: "json", schema: SandboxInput, optional: true },
    errors: ["name-in-use", "limit-reached", "invalid-document", "no-port"],
    success: { status: 201, schema: SandboxBody },
    handle({ body = {}, server, site }) {
      const { fixture, seed, scenarios, origin } = body;
      requireNoPath(fixture);
      if (origin && server.directory.getFigures() !== undefined)
        throw unprocessable(
          "origin",
          origin,
          "is not possible in a fleet, whose nodes take over each other's sandboxes; use the base URL",
        );
      const name = chooseName(server, body.name);
      const settings = body.settings && parseSettings(body.settings);
      const clock = body.clock && toClockSetting(body.clock, "clock");
      const options = {
        name,
        fixture,
        seed,
        clock,
        scenarios,
        settings,
        checkFixture: createFixtureCheck(server),
      };
      return createOrDiscard(
        { server, site },
        () => {
          try {
            return convertFixtureError(() => server.sandboxes.create(options));
          } catch (error) {
            // Looked up here only after a failure, since each lookup reads the scenario's file.
            for (const [i, one] of (scenarios ?? []).entries())
              readScenarioField(`scenarios[${i}]`, () => server.scenarios.get(one));
            throw error;
          }
        },
        origin,
      );
    },
  }),
  operation({
    id: "sandboxes.retrieve",
    route: "GET /_control/sandboxes/{name}",
    summary: "Show a sandbox",
    success: { status: 200, schema: SandboxBody },
    handle: ({ sandbox, site }) => renderSandbox(sandbox, site),
  }),
  operation({
    id: "sandboxes.update",
    route: "PATCH /_control/sandboxes/{name}",
    summary: "Change settings",
    body: {
      kind: "json",
      schema: ClosedObject(
        { settings: SettingsInput },
        { examples: [{ settings: { processing_seconds: 5 } }] },
      ),
    },
    stays: true,
    describeChange: ({ body }) => ({
      title: `Settings were changed: ${Object.keys(body.settings).join(", ")}.`,
    }),
    success: { status: 200, schema: SandboxBody },
    handle({ body, sandbox, site }) {
      sandbox.configure(parseSettings(body.settings));
      return renderSandbox(sandbox, site);
    },
  }),
  operation({
    id: "sandboxes.delete",
    route: "DELETE /_control/sandboxes/{name}",
    summary: "Delete a sandbox. `default` is reset instead",
    success: { status: 204 },
    handle({ sandbox, server }) {
      if (sandbox.name === "default") sandbox.reset();
      else server.sandboxes.delete(sandbox.name);
    },
  }),
  operation({
    id: "sandboxes.reset",
    route: "POST /_control/sandboxes/{name}/reset",
    summary: "Reset the sandbox to its initial state. Its settings and snapshots stay",
    body: { kind: "json", schema: ResetInput, optional: true },
    errors: ["limit-reached", "invalid-document"],
    success: { status: 200, schema: SandboxBody },
    handle({ body = {}, sandbox, server, site }) {
      requireNoPath(body.fixture);
      const checkWorld = (root: Root) => requireRoomForRecords(server, root);
      const checkFixture = createFixtureCheck(server);
      convertFixtureError(() => sandbox.reset({ ...body, checkFixture, checkWorld }));
      return renderSandbox(sandbox, site);
    },
  }),
  operation({
    id: "sandboxes.fork",
    route: "POST /_control/sandboxes/{name}/fork",
    summary: "Create a second sandbox with the same state",
    body: {
      kind: "json",
      schema: ClosedObject({ name: Type.Optional(NewName) }, { examples: [{ name: "mine-too" }] }),
      optional: true,
    },
    errors: ["name-in-use", "limit-reached"],
    success: { status: 201, schema: SandboxBody },
    handle({ body = {}, sandbox, server, site }) {
      const name = chooseName(server, body.name);
      return createOrDiscard({ server, site }, () => {
        const { fork } = server.sandboxes.fork(sandbox, name);
        pointWebhooksAtOwnReceivers(fork, site);
        return fork;
      });
    },
  }),
];

/** The check runs before the records of a loaded fixture are built. */
function createFixtureCheck(server: ControlServer) {
  return (fixture: LoadedFixture) => requireRoomForFixture(server, fixture);
}

/** @throws Problem 422 for an invalid fixture, with the field below that of the body: `fixture.users[0]` */
function convertFixtureError<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const { field, message, file, line, column } = error.problems[0]!;
    throw new Problem("invalid-document", {
      detail: error.format(),
      field: field === "" ? "fixture" : `fixture.${field}`,
      hint: error.hint,
      extension: { message, file, line, column, problems: [...error.problems] },
    });
  }
}
