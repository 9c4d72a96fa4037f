// What the command line needs of bundles: loaded with the first of it that somebody asks for.
export { readBundle } from "./read-bundle.ts";
export { replayBundle } from "./replay-bundle.ts";
