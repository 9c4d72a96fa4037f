/** The library uses the types of the control API. */
export type * from "../../types/control-api.ts";
