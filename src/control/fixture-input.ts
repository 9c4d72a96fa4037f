import Type from "typebox";
import { isPath } from "../documents/files.ts";
import { typed } from "../engine/contract/schema.ts";
import { unprocessable } from "./problem.ts";

export const FixtureInput = typed(
  "FixtureInput",
  Type.Unsafe<string | object>({
    type: ["string", "object"],
    title: "the name of a fixture or an inline one",
    description: "The name of a fixture, or a fixture itself; files are read by the command line alone",
  }),
);

/**
 * interfaces 4: a fixture comes by name or as a value. Whoever may call need not be whoever may read the server's
 * disk, so that only the command line and the configuration name files.
 * @throws Problem 422
 */
export function requireNoPath(fixture: string | object | undefined): void {
  const [field, named]: readonly [string, unknown] =
    typeof fixture === "object"
      ? ["fixture.extends", (fixture as { extends?: unknown }).extends]
      : ["fixture", fixture];
  if (typeof named !== "string" || !isPath(named)) return;
  throw unprocessable(
    field,
    named,
    "takes the name of a fixture: the control API reads no files. Send the fixture itself, or give its path to the command line (`understudy start --fixture FILE`, `understudy reset --fixture FILE`)",
  );
}
