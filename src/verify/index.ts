// What the command line needs of the contract suite: loaded with the first of it that somebody asks for.
export { HarError } from "../exchanges/har-error.ts";
export { Contract } from "./contract.ts";
export { verifyRecorded } from "./recorded/verify-recorded.ts";
export { runVerify, TargetUnusable, VerifyUsageError } from "./run-verify.ts";
export { readUses, UseError } from "./uses.ts";
export { verifyHtml, verifyJunit } from "./verify-report.ts";
