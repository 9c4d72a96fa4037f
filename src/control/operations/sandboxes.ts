import Type, { type Static } from "typebox";
import { noContent } from "../../engine/contract/reply.ts";
import { Closed, ListOf, Timestamp, typed, Words } from "../../engine/contract/schema.ts";
import { DocumentError } from "../../engine/documents/document-error.ts";
import type { LoadedFixture } from "../../engine/sandbox/sandbox-value.ts";
import type { Root } from "../../engine/state/tables.ts";
import type { SavingFailure } from "../../persistence/saver.ts";
import { checkSettings, SettingsInput } from "../check-settings.ts";
import { ClockInput, clockSetting } from "../clock-input.ts";
import { FixtureInput, requireNoPath } from "../fixture-input.ts";
import { requireRoom, requireRoomForFixture, requireRoomForRecords } from "../limits.ts";
import { freeName, generatedName, NewName, settled } from "../new-sandbox.ts";
import { type ControlOperation, type ControlServer, OfSandbox, operation, S } from "../operation.ts";
import { Problem, scenarioAt } from "../problem.ts";
import { listSandboxes } from "../remote-sandbox.ts";
import { presentSandbox, SandboxBody } from "../sandbox-body.ts";

const Seed = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "Seeds ids, texts and all other random values",
});

/** Nothing where nothing is kept; a server that cannot save still serves. */
function presentSaving(failure: SavingFailure | null | undefined): { saving?: Static<typeof Saving> } {
  if (failure === undefined) return {};
  if (failure === null) return { saving: { state: "ok" } };
  const { since, refusal } = failure;
  return {
    saving: { state: "failing", since: new Date(since).toISOString(), reason: `${refusal.message}.` },
  };
}

const Saving = Closed({
  state: Words(["ok", "failing"]),
  since: Type.Optional(Timestamp()),
  reason: Type.Optional(Type.String()),
});

const Count = (description: string) => Type.Integer({ minimum: 0, description });

const FleetFigures = Closed({
  node: Type.String({ description: "This node's `--node-url`" }),
  lease: Words(["held", "lost"], { description: "Whether it may own anything at the moment" }),
  owned: Count("Sandboxes that this node owns"),
  passed_on: Count("Requests passed on to other nodes since the start"),
  taken_over: Count("Sandboxes taken over since the start"),
  fenced: Count("Sandboxes taken away since the start"),
});

export const HealthBody = Closed(
  {
    status: Type.Literal("ok"),
    version: Type.String(),
    uptime_seconds: Type.Integer({ minimum: 0 }),
    sandboxes: Type.Integer({ minimum: 0, description: "How many there are" }),
    saving: Type.Optional(
      Type.Unsafe<Static<typeof Saving>>({ ...Saving, description: "With `--persist` or `--store`" }),
    ),
    fleet: Type.Optional(
      Type.Unsafe<Static<typeof FleetFigures>>({ ...FleetFigures, description: "With `--store`" }),
    ),
  },
  { $id: "Health", examples: [{ status: "ok", version: "0.1.0", uptime_seconds: 12, sandboxes: 1 }] },
);

const health = operation({
  id: "server.health",
  section: "interfaces 4",
  method: "GET",
  path: "/_control/health",
  summary: "Show that the server runs, and since when",
  errors: [],
  success: { status: 200, schema: HealthBody },
  handle: async ({ server }) => {
    const fleet = server.directory.figures();
    return {
      status: "ok" as const,
      version: server.version,
      uptime_seconds: Math.floor((performance.now() - server.started) / 1000),
      sandboxes: await server.directory.count(),
      ...presentSaving(server.savingFailure()),
      ...(fleet && { fleet }),
    };
  },
});

const list = operation({
  id: "sandboxes.list",
  section: "interfaces 4",
  method: "GET",
  path: "/_control/sandboxes",
  summary: "List all sandboxes in order of creation",
  errors: [],
  success: { status: 200, schema: ListOf(SandboxBody) },
  handle: async (call) => {
    const items = await listSandboxes(call);
    return { items, total: items.length };
  },
});

export const SandboxInput = Closed(
  {
    name: Type.Optional(NewName),
    fixture: Type.Optional(FixtureInput),
    seed: Type.Optional(Seed),
    clock: Type.Optional(ClockInput),
    scenarios: Type.Optional(
      Type.Array(typed("ScenarioName", Type.String()), {
        description: "Names of the scenarios that are active from the start",
      }),
    ),
    settings: Type.Optional(SettingsInput),
  },
  {
    $id: "SandboxInput",
    description: "Fields that are left out default to the server's start options",
    examples: [{ name: "mine", seed: 7, clock: { mode: "frozen" } }],
  },
);

const createSandbox = operation({
  id: "sandboxes.create",
  section: "interfaces 4",
  method: "POST",
  path: "/_control/sandboxes",
  summary: "Create a sandbox",
  body: { kind: "json", schema: SandboxInput, optional: true },
  errors: ["name-in-use", "limit-reached", "invalid-document"],
  success: { status: 201, schema: SandboxBody },
  handle({ body = {}, server, origin }) {
    const { fixture, seed, scenarios } = body;
    requireNoPath(fixture);
    const name = body.name === undefined ? generatedName(server) : freeName(server, body.name);
    requireRoom(server, "sandboxes", server.sandboxes.size + 1);
    const settings = body.settings && checkSettings(body.settings);
    const clock = body.clock && clockSetting(body.clock, "clock");
    const first = { name, fixture, seed, clock, scenarios, settings, judge: createJudge(server) };
    return settled(server, origin, () => {
      try {
        return fixtureErrors(() => server.sandboxes.create(first));
      } catch (error) {
        // Looked up again, so that only a call that names an unusable one waits for it.
        for (const [i, one] of (scenarios ?? []).entries())
          scenarioAt(`scenarios[${i}]`, () => server.scenarios.get(one));
        throw error;
      }
    });
  },
});

const retrieveSandbox = operation({
  id: "sandboxes.retrieve",
  section: "interfaces 4",
  method: "GET",
  path: S,
  summary: "Show a sandbox",
  params: OfSandbox,
  errors: [],
  success: { status: 200, schema: SandboxBody },
  handle: ({ sandbox, origin }) => presentSandbox(sandbox, origin),
});

const updateSandbox = operation({
  id: "sandboxes.update",
  section: "interfaces 4",
  method: "PATCH",
  path: S,
  summary: "Change settings",
  params: OfSandbox,
  body: {
    kind: "json",
    schema: Closed({ settings: SettingsInput }, { examples: [{ settings: { processing_seconds: 5 } }] }),
  },
  describes: {
    as: ({ body }) => ({ title: `Settings were changed: ${Object.keys(body.settings ?? {}).join(", ")}.` }),
  },
  errors: [],
  success: { status: 200, schema: SandboxBody },
  handle({ body, sandbox, origin }) {
    sandbox.configure(checkSettings(body.settings));
    return presentSandbox(sandbox, origin);
  },
});

const deleteSandbox = operation({
  id: "sandboxes.delete",
  section: "interfaces 4",
  method: "DELETE",
  path: S,
  summary: "Delete a sandbox; `default`, which always exists, is reset instead",
  params: OfSandbox,
  errors: [],
  success: { status: 204 },
  handle({ sandbox, server }) {
    if (sandbox.name === "default") sandbox.reset();
    else server.sandboxes.delete(sandbox.name);
    return noContent();
  },
});

export const ResetInput = Closed(
  { fixture: Type.Optional(FixtureInput), seed: Type.Optional(Seed) },
  { $id: "ResetInput", description: "What is left out stays as it is", examples: [{ seed: 7 }] },
);

const resetSandbox = operation({
  id: "sandboxes.reset",
  section: "interfaces 4",
  method: "POST",
  path: `${S}/reset`,
  summary: "Reset everything to the first day; settings and snapshots stay",
  params: OfSandbox,
  body: { kind: "json", schema: ResetInput, optional: true },
  errors: ["limit-reached", "invalid-document"],
  success: { status: 200, schema: SandboxBody },
  handle({ body = {}, sandbox, server, origin }) {
    requireNoPath(body.fixture);
    const admit = (root: Root) => requireRoomForRecords(server, root);
    fixtureErrors(() => sandbox.reset({ ...body, judge: createJudge(server), admit }));
    return presentSandbox(sandbox, origin);
  },
});

const forkSandbox = operation({
  id: "sandboxes.fork",
  section: "interfaces 4",
  method: "POST",
  path: `${S}/fork`,
  summary: "Create a second sandbox with the same state",
  params: OfSandbox,
  body: {
    kind: "json",
    schema: Closed({ name: Type.Optional(NewName) }, { examples: [{ name: "mine-too" }] }),
    optional: true,
  },
  errors: ["name-in-use", "limit-reached"],
  success: { status: 201, schema: SandboxBody },
  handle({ body = {}, sandbox, server, origin }) {
    const name = body.name === undefined ? generatedName(server) : freeName(server, body.name);
    requireRoom(server, "sandboxes", server.sandboxes.size + 1);
    return settled(server, origin, () => server.sandboxes.fork(sandbox, name));
  },
});

function createJudge(server: ControlServer) {
  return (fixture: LoadedFixture) => requireRoomForFixture(server, fixture);
}

/** A field of the fixture follows the name of the body's field. */
function fixtureErrors<T>(load: () => T): T {
  try {
    return load();
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

export const SANDBOX_OPERATIONS: readonly ControlOperation[] = [
  health,
  list,
  createSandbox,
  retrieveSandbox,
  updateSandbox,
  deleteSandbox,
  resetSandbox,
  forkSandbox,
];
