import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type AnyOperation, listErrorCodes } from "../../src/engine/contract/operation.ts";
import { API, RESOURCES } from "../../src/engine/resources/index.ts";
import { Contract } from "../../src/tools/verify/contract.ts";
import { verifyRecorded } from "../../src/tools/verify/recorded/verify-recorded.ts";
import { type Api, startReference } from "../support/harness.ts";
import { FreshWorld, type Sent } from "../support/openapi/fresh-world.ts";
import { RECIPES } from "../support/openapi/recipes.ts";
import { findRefusalRecipe } from "../support/openapi/refusals.ts";
import { createTempFolder, removeTempFolders } from "../support/run-understudy.ts";

const CONTRACT = new Contract(RESOURCES);

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(async () => {
  await api.close();
  removeTempFolders();
});

/** Makes calls in a world of their own, and returns what verify finds in their recording. */
async function findReported(play: (world: FreshWorld) => Promise<unknown>): Promise<string[]> {
  const world = await FreshWorld.create(api);
  await play(world);
  const file = join(createTempFolder(), "traffic.har");
  writeFileSync(file, (await world.control("GET", "/journal.har")).text);
  await world.delete();
  const { checks } = await verifyRecorded({ contract: CONTRACT, file, target: undefined });
  return checks.flatMap(({ failures, differences }) => [
    ...failures,
    ...differences.map(({ detail }) => detail),
  ]);
}

async function refuse(world: FreshWorld, operation: AnyOperation, code: string): Promise<void> {
  const valid = await RECIPES[operation.id]![0]!.request(world);
  const spoiled = await findRefusalRecipe(operation, code as never)!({ world, operation, valid });
  // Some recipes make the call themselves, and return its answer.
  if (!("status" in spoiled)) await world.call(operation.path, operation.method, spoiled as Sent);
}

it.each(API.operations.map((operation) => [operation.id, operation] as const))(
  "verify finds nothing in a recording of any documented answer of %s [interfaces 12]",
  async (id, operation) => {
    for (const recipe of RECIPES[id] ?? [])
      expect(
        await findReported(async (world) =>
          world.call(operation.path, operation.method, await recipe.request(world)),
        ),
        `${recipe.status} ${recipe.name ?? ""}`,
      ).toEqual([]);
    for (const code of listErrorCodes(operation).filter((one) => findRefusalRecipe(operation, one)))
      expect(await findReported((world) => refuse(world, operation, code)), code).toEqual([]);
  },
  60_000,
);
