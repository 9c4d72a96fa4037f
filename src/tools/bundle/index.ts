// What the command line needs of bundles: loaded with the first of it that somebody asks for.

export { replayBundle } from "../../client/replay/replay-bundle.ts";
export { readBundle } from "./read-bundle.ts";
