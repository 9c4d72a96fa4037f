import type { HttpServing } from "../client/mcp/serve-http.ts";
import type { DocumentWatch } from "../documents/watch-documents.ts";
import { sweepOrphanedFolders } from "../hosts/node/storage/folders.ts";
import { assemble, type Understudy } from "../understudy.ts";
import { banner } from "./banner.ts";
import { complain, say, sayJson } from "./output.ts";
import { type Ready, writeReadyFile } from "./ready-file.ts";
import type { StartFlags } from "./start-flags.ts";
import { readStartOptions } from "./start-options.ts";
import { ENDINGS } from "./until-ended.ts";

/**
 * Starts the server and returns once it accepts requests; it ends with the process's signals.
 * @throws UsageError, DocumentError, UnknownScenario, PersistenceError, and EADDRINUSE of a taken port
 */
export async function startServer(flags: StartFlags): Promise<void> {
  const options = await readStartOptions(flags);
  const understudy = assemble({ ...options.server, mcp: loadMcp });
  const stops: (() => Promise<void>)[] = [];
  const noLonger = stopOnSignals(understudy, stops);
  const token = options.server.shared?.token ?? null;
  let ready: Ready;
  try {
    const url = await understudy.listen(options.port, options.host);
    ready = { url, console: `${url}/_console`, pid: process.pid, token };
    if (options.readyFile) writeReadyFile(options.readyFile, ready);
  } catch (error) {
    noLonger();
    // What failed first says why.
    await understudy.close().catch(() => {});
    throw error;
  }
  if (flags.json) sayJson(ready);
  else if (!options.quiet) say(banner(understudy, ready, options.server.allowHosts).replace(/\n$/, ""));
  // Who gave the token has it; one that was made up is nowhere else.
  else if (token !== null && !options.readyFile && token !== process.env["UNDERSTUDY_TOKEN"]) say(token);
  // After the start, which it must not slow down; a folder that cannot be removed is no reason to say anything.
  void sweepOrphanedFolders().catch(() => {});
  if (!options.watch) return;
  const watch = await watchFiles(understudy);
  stops.push(() => watch.close());
}

/** Loaded with the first client: most servers never see one. */
async function loadMcp(own: HttpServing) {
  const { mcpOverHttp } = await import("../client/mcp/serve-http.ts");
  return mcpOverHttp(own);
}

/** Watching starts once requests are accepted; what is edited before it is noticed then. */
async function watchFiles(understudy: Understudy): Promise<DocumentWatch> {
  const [{ watchDocuments }, { followFixtures }, { followScenarios }] = await Promise.all([
    import("../documents/watch-documents.ts"),
    import("../documents/follow-fixtures.ts"),
    import("../documents/follow-scenarios.ts"),
  ]);
  const fixtures = followFixtures(understudy.fixtures, {
    sandboxes: () => understudy.sandboxes.all(),
    onChange: ({ message }) => complain(message),
    onProblem: (error, fixture) =>
      complain(
        `fixture ${fixture} stays as it was, for its file cannot be used:\n${error.formatWithFrames()}`,
      ),
  });
  const scenarios = followScenarios(understudy.scenarios, {
    onChange: ({ name }) => complain(`scenario ${name} was edited, and is in force as it is now`),
    onProblem: (error) =>
      complain(`a scenario stays as it was, for its file cannot be used:\n${error.formatWithFrames()}`),
  });
  // A system without watches left is a reason to say so, not to stop serving.
  return watchDocuments([fixtures, scenarios], ({ message }) => complain(message));
}

/** The first signal lets open requests finish; a second does not wait. Returns what takes it back. */
function stopOnSignals(understudy: Understudy, stops: readonly (() => Promise<void>)[]): () => void {
  let stopping = false;
  const stop = async () => {
    if (stopping) process.exit(130);
    stopping = true;
    try {
      await Promise.all(stops.map((end) => end()));
      await understudy.close();
      process.exit(0);
    } catch (error) {
      complain(`ended with a failure: ${(error as Error).message}`);
      process.exit(1);
    }
  };
  // SIGHUP: the terminal is closed.
  for (const signal of ENDINGS) process.on(signal, stop);
  return () => {
    for (const signal of ENDINGS) process.off(signal, stop);
  };
}
