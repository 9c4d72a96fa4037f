/** What the library gives and takes is the control API's own. */
export type * from "../../types/control-api.ts";
