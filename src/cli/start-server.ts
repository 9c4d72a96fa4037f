import type { ServerAccess, Understudy } from "../control/understudy-options.ts";
import type { DocumentWatch, OwnFiles } from "../documents/watch-documents.ts";
import { toBase64 } from "../engine/bytes.ts";
import { pluralize, toShellWord } from "../engine/contract/text.ts";
import { DocumentError } from "../engine/documents/document-error.ts";
import { listValidKeys } from "../engine/resources/api-keys/rules.ts";
import { users } from "../engine/resources/users/schema.ts";
import { IN_PROCESS_ORIGIN } from "../hosts/fetch/create-fetch.ts";
import { sweepOrphanedFolders } from "../hosts/node/storage/folders.ts";
import { assemble } from "../understudy.ts";
import { UsageError } from "./failure.ts";
import { formatTable, onEndSignal, printError, printJsonLine, printLines } from "./process.ts";
import type { StartFlags } from "./start-flags.ts";
import { readStartOptions, type StartOptions } from "./start-options.ts";
import { type Ready, writeReadyFile } from "./write-files.ts";

/**
 * Starts the server and returns once it accepts requests; a signal to the process ends it.
 * @param opened a file whose world becomes a sandbox
 * @throws UsageError, DocumentError, UnknownScenarioError, PersistenceError, and EADDRINUSE of a taken port
 */
export async function startServer(flags: StartFlags, opened?: OpenedFile): Promise<void> {
  const options = await readStartOptions(flags, opened !== undefined);
  const understudy = assembleServer(options);
  const stops: (() => Promise<void>)[] = [];
  const removeListeners = stopOnSignals(understudy, stops);
  const token = options.server.shared?.token ?? null;
  let ready: Ready;
  let name: string | undefined;
  try {
    const url = await understudy.listen(options.port, options.host);
    name = opened && (await openFile(understudy, opened));
    const console = name === undefined ? `${url}/_console` : `${url}/_console/s/${name}/timeline`;
    ready = { url, console, pid: process.pid, token };
    if (options.readyFile) writeReadyFile(options.readyFile, ready);
  } catch (error) {
    removeListeners();
    // The first error is the reason.
    await understudy.close().catch(() => {});
    throw options.locate(error);
  }
  if (flags.json) printJsonLine(ready);
  else if (!options.quiet)
    printLines(formatBanner(understudy, ready, { ...options.server, opened: name }).replace(/\n$/, ""));
  // A generated token is shown nowhere else.
  else if (token !== null && !options.readyFile && token !== process.env["UNDERSTUDY_TOKEN"])
    printLines(token);
  // Removes folders of killed servers once this one has started, so as not to delay its start.
  void sweepOrphanedFolders().catch(() => {});
  if (!options.watch) return;
  const watch = await watchFiles(understudy, options.ownFiles);
  stops.push(() => watch.close());
}

function assembleServer({ server, locate }: StartOptions): Understudy {
  try {
    return assemble({ ...server, mcp: loadMcp });
  } catch (error) {
    throw locate(error);
  }
}

interface OpenedFile {
  file: string;
  bytes: Uint8Array;
}

/** Resolves with the sandbox's name. @throws UsageError */
async function openFile({ fetch }: Understudy, { file, bytes }: OpenedFile): Promise<string> {
  const response = await fetch(
    new Request(`${IN_PROCESS_ORIGIN}/_control/open`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ file: toBase64(bytes) }),
    }),
  );
  const { name, detail } = (await response.json()) as { name: string; detail: string };
  if (response.ok) return name;
  throw new UsageError(`${file} cannot be opened. ${detail}`);
}

/** Loads the MCP server with its first client, since most servers have none. */
async function loadMcp(access: ServerAccess) {
  const { createMcpHttpHandler } = await import("../client/mcp/serve.ts");
  return createMcpHttpHandler(access);
}

/** Called once requests are accepted; also notices earlier edits. */
async function watchFiles(understudy: Understudy, ownFiles: readonly OwnFiles[]): Promise<DocumentWatch> {
  const [{ DocumentWatch }, { followFixtures, followScenarios }] = await Promise.all([
    import("../documents/watch-documents.ts"),
    import("../documents/follow-edits.ts"),
  ]);
  const fixtures = followFixtures(understudy.fixtures, {
    sandboxes: () => understudy.sandboxes.all(),
    onChange: printError,
    onProblem: (error, fixture) =>
      printError(
        `fixture ${fixture} was not reloaded, because its file has problems:\n${error.formatWithFrames()}`,
      ),
  });
  const scenarios = followScenarios(understudy.scenarios, {
    onChange: ({ name }) => printError(`scenario ${name} was edited and reloaded`),
    onProblem: (error) =>
      printError(`a scenario was not reloaded, because its file has problems:\n${error.formatWithFrames()}`),
  });
  const documents = [fixtures, scenarios];
  if (ownFiles.length > 0) {
    const { followOwnFiles } = await import("../documents/own-files.ts");
    documents.push(
      ...followOwnFiles(ownFiles, {
        apply(sources) {
          understudy.setOperations(sources);
          printError("the operations were edited and reloaded");
        },
        onProblem: (error) =>
          printError(
            `the operations were not reloaded:\n${error instanceof DocumentError ? error.formatWithFrames() : error.message}`,
          ),
      }),
    );
  }
  // If the system has no watches left, the server reports that and goes on.
  return new DocumentWatch(documents, ({ message }) => printError(message));
}

/** The first signal lets open requests finish; a second does not wait. Returns a function that stops listening. */
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
      printError(`ended with a failure: ${(error as Error).message}`);
      process.exit(1);
    }
  };
  return onEndSignal(stop);
}

const MAX_CREDENTIALS = 15;

interface BannerOptions extends Pick<StartOptions["server"], "allowHosts" | "certificate" | "publicUrl"> {
  /** The sandbox of the file that `understudy open` named. */
  opened?: string | undefined;
}

/** The syntax of cmd.exe, or of a POSIX shell. */
const SHELL = process.platform === "win32" ? { quote: '"', set: "set" } : { quote: "'", set: "export" };

/** The first output that a user reads: addresses, credentials, and a call to paste. */
export function formatBanner(understudy: Understudy, ready: Ready, options: BannerOptions = {}): string {
  const { opened } = options;
  const sandbox = understudy.sandboxes.get(opened ?? "default");
  const base = opened === undefined ? ready.url : `${ready.url}/_s/${opened}`;
  // In a fleet another node may own it.
  if (sandbox === undefined) {
    const node = "  Understudy is running: a node of a fleet";
    return ["", node, "", ...describeAddresses(understudy, base, ready, options), "", ""].join("\n");
  }
  const world = sandbox.world.read();
  const keys = listValidKeys(world);
  const rows = keys.slice(0, MAX_CREDENTIALS).map(({ key, user_id, current: organization }) => {
    const user = world.get(users, user_id);
    const role = user?.memberships[organization] ?? "no member";
    const account = user && user.account !== "active" ? `, ${user.account}` : "";
    return [`  ${user_id}`, key, `${user?.name ?? "unknown"}, ${role} of ${organization}${account}`];
  });
  const hiddenCount = keys.length - rows.length;
  const exampleKey = keys.find(({ user_id, current }) => {
    const user = world.get(users, user_id);
    return user?.account === "active" && user.memberships[current] !== undefined;
  });
  const file = options.certificate?.file;
  const trust = file === undefined ? "" : `--cacert ${toShellWord(file)} `;
  const lines = [
    "",
    `  Understudy is running: fixture ${sandbox.fixture}, seed ${sandbox.seed}, clock ${sandbox.world.clock.mode}`,
    "",
    ...describeAddresses(understudy, base, ready, options),
    ...sandbox.api.resources.flatMap(({ userSource, operations }) =>
      userSource === undefined
        ? []
        : [`  Own      ${pluralize(operations.length, "operation")} of ${userSource.source}`],
    ),
    "",
    "  Credentials (header `api-key`):",
    formatTable(["  user", "key", "who"], rows),
    ...(hiddenCount > 0 ? [`  … and ${hiddenCount} more`] : []),
    ...(exampleKey === undefined
      ? []
      : [
          "",
          "  Try:",
          `  curl -s ${trust}-H ${SHELL.quote}api-key: ${exampleKey.key}${SHELL.quote} ${base}/v1/analytics/usage/limits/${exampleKey.current}`,
        ]),
    "",
    "",
  ];
  return lines.join("\n");
}

/** The addresses; each node of a fleet serves the console. */
function describeAddresses(
  { login }: Understudy,
  base: string,
  { url, console, token }: Ready,
  { allowHosts = [], certificate, publicUrl }: BannerOptions,
): string[] {
  const names = publicUrl === undefined ? allowHosts : [publicUrl, ...allowHosts];
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  const others = names.filter((name) => name !== url && name !== host);
  const file = certificate?.file && toShellWord(certificate.file);
  return [
    `  API      ${base}`,
    `  Console  ${console}`,
    ...(others.length > 0 ? [`  Also as  ${others.join(", ")}`] : []),
    ...(file === undefined
      ? []
      : [
          `  Trust    ${SHELL.set} NODE_EXTRA_CA_CERTS=${file}`,
          "           (curl: --cacert; Python: SSL_CERT_FILE, REQUESTS_CA_BUNDLE; browsers: import it, or accept it once)",
        ]),
    ...(token === null ? [] : [`  Token    ${token}`, `  Log in   ${console}${login!.fragment} (once)`]),
  ];
}
