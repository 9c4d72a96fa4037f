import { type Static, Type } from "typebox";
import { ClosedObject, MapOf, Nullable, Timestamp, withLibraryType } from "../engine/contract/schema.ts";
import { DEFAULT_SETTINGS, Settings } from "../engine/contract/settings.ts";
import { NoPortError, type Site } from "../engine/pipeline/plain-http.ts";
import { randomHex } from "../engine/platform.ts";
import { SANDBOX_NAME } from "../engine/sandbox/registry.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { Root } from "../engine/state/tables.ts";
import { ClockBody, renderClock } from "./clock-input.ts";
import { requireRoom, requireRoomForRecords } from "./limits.ts";
import { type ControlContext, type ControlServer, SandboxName } from "./operation.ts";
import { conflict, NAME_ADVICE, Problem, unprocessable } from "./problem.ts";

/** A sandbox as the control API shows it (interfaces.md 4). */
export const SandboxBody = ClosedObject(
  {
    name: SandboxName,
    base_url: Type.String({
      description: "A base URL of the emulated API; it has a path, which clients must keep",
    }),
    origin: Type.Union([Type.String(), Type.Null()], {
      description: "A base URL without a path, whose port serves this sandbox alone; null if it has none",
    }),
    fixture: Type.String({ description: "The fixture's name, or `inline`" }),
    seed: Type.Integer({ minimum: 0 }),
    clock: ClockBody,
    scenarios: Type.Array(Type.String(), { description: "The active ones, in order" }),
    settings: Settings,
    created_at: Timestamp({ description: "On the wall clock" }),
    forked_from: Type.Optional(
      Nullable(Type.String({ description: "With `forks`: the sandbox that it is a fork of, if any" })),
    ),
    counts: withLibraryType(
      "Record<CollectionName, number>",
      MapOf(Type.Integer({ minimum: 0 }), {
        description: "How many records each collection holds",
      }),
    ),
  },
  {
    $id: "Sandbox",
    description: "One isolated world inside the server",
    examples: [
      {
        name: "mine",
        base_url: "http://127.0.0.1:4747/_s/mine",
        origin: "http://127.0.0.1:40213",
        fixture: "reference",
        seed: 1,
        clock: { mode: "frozen", now: "2026-03-15T12:00:00.000Z", rate: 0 },
        scenarios: [],
        settings: DEFAULT_SETTINGS,
        created_at: "2026-03-15T12:00:00.000Z",
        counts: { organizations: 4, users: 9 },
      },
    ],
  },
);

export function renderSandbox(sandbox: Sandbox, site: Site): Static<typeof SandboxBody> {
  const { name, fixture, seed, settings, world, faults } = sandbox;
  world.catchUp();
  return {
    name,
    base_url: site.baseUrl(name),
    origin: site.findOrigin(name),
    fixture,
    seed,
    clock: renderClock(world),
    scenarios: [...faults.rules.scenarios],
    settings,
    created_at: new Date(sandbox.created_at).toISOString(),
    counts: countRecords(world.root),
  };
}

function countRecords({ tables }: Root): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { collection, size } of tables.all()) {
    if (!collection.internal) counts[collection.name] = size;
  }
  return counts;
}

export function sumRecords(root: Root): number {
  return Object.values(countRecords(root)).reduce((sum, count) => sum + count, 0);
}

export const NewName = Type.String({
  description:
    "1 to 63 lower-case letters, digits and hyphens, with a letter or digit first; generated if left out",
});

/** Creates a sandbox, and deletes it again if a limit, its port or the fleet's registration refuses it. */
export async function createOrDiscard(
  { server, site }: Pick<ControlContext, "server" | "site">,
  make: () => Sandbox | Promise<Sandbox>,
  withOrigin = false,
) {
  const sandbox = await make();
  try {
    requireRoom(server, "sandboxes", server.sandboxes.size);
    requireRoomForRecords(server, sandbox.world.root);
    if (server.limits !== undefined)
      requireRoom(server, "rules", server.faults.getSandboxFaults(sandbox).rules.allRules.length);
    if (withOrigin) await openOrigin(server, sandbox);
    await server.directory.register(sandbox);
    return renderSandbox(sandbox, site);
  } catch (error) {
    if (server.sandboxes.get(sandbox.name) === sandbox) server.sandboxes.delete(sandbox.name);
    throw error;
  }
}

/** @throws Problem 409, 503 */
async function openOrigin(server: ControlServer, sandbox: Sandbox): Promise<void> {
  const { origins } = server.sites;
  try {
    await origins.open(sandbox.name);
  } catch (error) {
    if (!(error instanceof NoPortError)) throw error;
    throw new Problem("no-port", {
      detail: `No port could be opened for ${sandbox.name} (${error.message}), so no sandbox was created. Delete sandboxes that have an origin, or omit \`origin\` and use the base URL.`,
    });
  }
  // Another call may have deleted the sandbox meanwhile, or opened a port too.
  if (server.sandboxes.get(sandbox.name) !== sandbox) origins.close(sandbox.name);
  requireRoom(server, "origins", origins.size);
}

/** @throws Problem 422 for a malformed name, 409 for one in use */
export function requireFreeName(server: ControlServer, name: string): string {
  if (!SANDBOX_NAME.test(name)) {
    throw unprocessable(
      "name",
      name,
      "must be 1 to 63 lower-case letters, digits and hyphens, and begin with a letter or digit",
    );
  }
  if (server.sandboxes.get(name) !== undefined) {
    throw conflict("name-in-use", `There is a sandbox "${name}" already`, NAME_ADVICE);
  }
  return name;
}

/**
 * The name of a new sandbox; generated if none is given.
 * @throws Problem 422 for a malformed name, 409 for one in use, and if there are too many sandboxes
 */
export function chooseName(server: ControlServer, name: string | undefined): string {
  const chosen = name === undefined ? generateName(server) : requireFreeName(server, name);
  requireRoom(server, "sandboxes", server.sandboxes.size + 1);
  return chosen;
}

function generateName(server: ControlServer): string {
  for (;;) {
    const name = `sb-${randomHex(4)}`;
    if (server.sandboxes.get(name) === undefined) return name;
  }
}
