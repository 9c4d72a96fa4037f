// What the command line needs of suites: loaded with the first of it that somebody asks for.
export { CommandNotFound } from "./run-command.ts";
export { runSuite } from "./run-suite.ts";
export { suiteHtml } from "./suite-html.ts";
export { suiteJunit } from "./suite-junit.ts";
export { foreignServer, ownServer } from "./suite-server.ts";
