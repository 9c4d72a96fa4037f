/** What the control API gives and takes, as its own declarations say; the one import from outside this folder. */
export type * from "../../../types/control-api.ts";
