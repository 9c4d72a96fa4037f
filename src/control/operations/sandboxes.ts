import { randomBytes } from "node:crypto";
import Type from "typebox";
import { noContent } from "../../contract/operation.ts";
import { DocumentError } from "../../documents/document-error.ts";
import { SANDBOX_NAME } from "../../sandbox/registry.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Root } from "../../state/root.ts";
import { checkSettings } from "../check-settings.ts";
import { ClockInput, clockSetting } from "../clock-input.ts";
import { requireRoom, requireRoomForRecords } from "../limits.ts";
import { type AnyControlOperation, type ControlServer, controlOperation, S } from "../operation.ts";
import { conflict, Problem, unprocessable } from "../problem.ts";
import { presentSandbox } from "../sandbox-body.ts";

const Fixture = Type.Unsafe<string | object>({
  type: ["string", "object"],
  title: "the name of a fixture or an inline one",
});
const Seed = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const AnyObject = Type.Object({}, { additionalProperties: true });

const health = controlOperation({
  id: "health",
  method: "GET",
  path: "/_control/health",
  summary: "Say that the server is up, and since when",
  handle: ({ server }) => ({
    status: "ok",
    version: server.version,
    uptime_seconds: Math.floor((performance.now() - server.started) / 1000),
    sandboxes: server.sandboxes.size,
  }),
});

const listSandboxes = controlOperation({
  id: "sandboxes.list",
  method: "GET",
  path: "/_control/sandboxes",
  summary: "List all sandboxes in order of creation",
  handle: ({ server, origin }) => {
    const items = [...server.sandboxes.all()].map((sandbox) => presentSandbox(sandbox, origin));
    return { items, total: items.length };
  },
});

const createSandbox = controlOperation({
  id: "sandboxes.create",
  method: "POST",
  path: "/_control/sandboxes",
  summary: "Make a sandbox",
  status: 201,
  body: {
    optional: true,
    schema: Type.Object(
      {
        name: Type.Optional(Type.String()),
        fixture: Type.Optional(Fixture),
        seed: Type.Optional(Seed),
        clock: Type.Optional(ClockInput),
        scenarios: Type.Optional(Type.Array(Type.String())),
        settings: Type.Optional(AnyObject),
      },
      { additionalProperties: false },
    ),
  },
  handle({ body = {}, server, origin }) {
    const { fixture, seed, scenarios } = body;
    const name = body.name === undefined ? generatedName(server) : freeName(server, body.name);
    requireRoom(server, "sandboxes", server.sandboxes.size + 1);
    const settings = body.settings && checkSettings(body.settings);
    const clock = body.clock && clockSetting(body.clock, "clock");
    return settled(server, origin, () =>
      fixtureErrors(() => server.sandboxes.create({ name, fixture, seed, clock, scenarios, settings })),
    );
  },
});

const retrieveSandbox = controlOperation({
  id: "sandboxes.retrieve",
  method: "GET",
  path: S,
  summary: "Show a sandbox",
  handle: ({ sandbox, origin }) => presentSandbox(sandbox, origin),
});

const updateSandbox = controlOperation({
  id: "sandboxes.update",
  method: "PATCH",
  path: S,
  summary: "Change settings",
  body: { schema: Type.Object({ settings: AnyObject }, { additionalProperties: false }) },
  handle({ body, sandbox, origin }) {
    sandbox.configure(checkSettings(body.settings));
    return presentSandbox(sandbox, origin);
  },
});

const deleteSandbox = controlOperation({
  id: "sandboxes.delete",
  method: "DELETE",
  path: S,
  summary: "Delete a sandbox; `default`, which always exists, is reset instead",
  handle({ sandbox, server }) {
    if (sandbox.name === "default") sandbox.reset();
    else server.sandboxes.delete(sandbox.name);
    return noContent();
  },
});

const resetSandbox = controlOperation({
  id: "sandboxes.reset",
  method: "POST",
  path: `${S}/reset`,
  summary: "Put everything back to the first day; settings and snapshots stay",
  body: {
    optional: true,
    schema: Type.Object(
      { fixture: Type.Optional(Fixture), seed: Type.Optional(Seed) },
      { additionalProperties: false },
    ),
  },
  handle({ body = {}, sandbox, server, origin }) {
    const admit = (root: Root) => requireRoomForRecords(server, root);
    fixtureErrors(() => sandbox.reset({ ...body, admit }));
    return presentSandbox(sandbox, origin);
  },
});

const forkSandbox = controlOperation({
  id: "sandboxes.fork",
  method: "POST",
  path: `${S}/fork`,
  summary: "Make a second sandbox with the same state",
  status: 201,
  body: {
    optional: true,
    schema: Type.Object({ name: Type.Optional(Type.String()) }, { additionalProperties: false }),
  },
  handle({ body = {}, sandbox, server, origin }) {
    const name = body.name === undefined ? generatedName(server) : freeName(server, body.name);
    requireRoom(server, "sandboxes", server.sandboxes.size + 1);
    return settled(server, origin, () => server.sandboxes.fork(sandbox, name));
  },
});

/** A sandbox that cannot be shown (a fixture whose records clash) must not stay behind. */
function settled(server: ControlServer, origin: string, make: () => Sandbox) {
  const sandbox = make();
  try {
    requireRoomForRecords(server, sandbox.world.root);
    if (server.limits !== undefined)
      requireRoom(server, "rules", server.faults.of(sandbox).rules.all().length);
    return presentSandbox(sandbox, origin);
  } catch (error) {
    server.sandboxes.delete(sandbox.name);
    throw error;
  }
}

/** The fixture's own place in the document stands behind the field that brought it. */
function fixtureErrors<T>(load: () => T): T {
  try {
    return load();
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const { field, message, file, line, column } = error.problems[0]!;
    throw new Problem(422, {
      kind: "invalid-document",
      title: "The fixture or scenario cannot be used",
      detail: error.format(),
      field: field === "" ? "fixture" : `fixture.${field}`,
      hint: error.hint,
      extension: { message, file, line, column, problems: error.problems },
    });
  }
}

/** @throws Problem 422 for a malformed name, 409 for one in use */
function freeName(server: ControlServer, name: string): string {
  if (!SANDBOX_NAME.test(name)) {
    throw unprocessable(
      "name",
      name,
      "must be 1 to 63 lower-case letters, digits and hyphens, and begin with a letter or digit",
    );
  }
  if (server.sandboxes.get(name) !== undefined) {
    throw conflict(
      "name-in-use",
      `There is a sandbox ${name} already`,
      "choose another name, delete it, or leave the name away to get one made up",
    );
  }
  return name;
}

function generatedName(server: ControlServer): string {
  for (;;) {
    const name = `sb-${randomBytes(4).toString("hex")}`;
    if (server.sandboxes.get(name) === undefined) return name;
  }
}

export const SANDBOX_OPERATIONS: readonly AnyControlOperation[] = [
  health,
  listSandboxes,
  createSandbox,
  retrieveSandbox,
  updateSandbox,
  deleteSandbox,
  resetSandbox,
  forkSandbox,
];
