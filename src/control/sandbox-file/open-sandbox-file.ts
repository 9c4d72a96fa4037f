import { fromLatin1, toUtf8 } from "../../engine/bytes.ts";
import type { OperationDocuments } from "../../engine/contract/resource.ts";
import { toShellWord } from "../../engine/contract/text.ts";
import { DocumentError } from "../../engine/documents/document-error.ts";
import type { SavedJournalEntry } from "../../engine/sandbox/journal.ts";
import type { SandboxRegistry } from "../../engine/sandbox/registry.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { decodeStates } from "../../engine/sandbox/stored-states.ts";
import { WorldDocumentError } from "../../engine/state/world-document.ts";
import { SandboxRestorer } from "../../persistence/sandbox-restorer.ts";
import { InvalidSandboxRows } from "../../persistence/sandbox-rows.ts";
import { MissingOperations, StoreRefusal } from "../../persistence/store.ts";
import type { BundleBody } from "../../tools/bundle/bundle.ts";
import { requireRoom } from "../limits.ts";
import type { ControlContext, ControlServer } from "../operation.ts";
import { Problem } from "../problem.ts";
import { createOrDiscard, requireFreeName } from "../sandbox-body.ts";
import { createSavedValidator } from "../validate-saved.ts";
import { checkFile, checkPastRecords } from "./check-file.ts";
import { type SandboxFile, type StoredExchange, unpackSandboxFile, unreadable } from "./sandbox-file.ts";

/**
 * Creates the sandbox of a file.
 * @param newName by default that in the file, with a number if it is in use
 * @throws Problem 409 for a name in use or too many sandboxes, 422 for a malformed name or a file that cannot be opened; then nothing has changed
 */
export async function openSandboxFile(
  { server, site }: Pick<ControlContext, "server" | "site">,
  bytes: Uint8Array,
  newName?: string,
): ReturnType<typeof createOrDiscard> {
  if (newName !== undefined) requireFreeName(server, newName);
  requireRoom(server, "sandboxes", server.sandboxes.size + 1);
  const file = await unpackSandboxFile(bytes);
  const takenNames = await server.directory.listNames();
  const addedScenarios: string[] = [];
  let created = undefined as Sandbox | undefined;
  // Another call may take a name while the file is read, so it is chosen and checked at the creation.
  const create: SandboxRegistry["restoreSaved"] = (options, fixture, state) => {
    const isTaken = (one: string) => takenNames.includes(one) || server.sandboxes.get(one) !== undefined;
    const name = requireFreeName(server, newName ?? findFreeName(file.name, isTaken));
    created = server.sandboxes.restoreSaved({ ...options, name }, fixture, state);
    return created;
  };
  try {
    checkFile(file);
    const { saved } = file.content;
    saved.operations = findOwnDocument(file, server);
    return await createOrDiscard({ server, site }, () =>
      restore(server, file, { name: newName ?? file.name, create, addedScenarios }),
    );
  } catch (error) {
    if (created !== undefined && server.sandboxes.get(created.name) === created)
      server.sandboxes.delete(created.name);
    for (const one of addedScenarios) server.scenarios.removeDocument(one);
    // These problems are not the file's, or already describe it.
    const isExplained =
      error instanceof StoreRefusal ||
      (error instanceof Problem &&
        (["limit-reached", "name-in-use"].includes(error.kind) || error.body.field === "file"));
    if (isExplained) throw error;
    const isExpected = [
      Problem,
      DocumentError,
      InvalidSandboxRows,
      MissingOperations,
      WorldDocumentError,
    ].some((kind) => error instanceof kind);
    const why = isExpected ? (error as Error).message.replace(/\.$/, "") : "a part of it is missing";
    throw unreadable(`does not hold a sandbox that this version can open: ${why}`);
  }
}

/**
 * The OpenAPI document for the new sandbox alone: the one that the saved sandbox had, else one that the exporting server
 * served; none if this server serves it too.
 * @throws Problem if this server lacks two documents that the file needs, or operations declared in code
 */
function findOwnDocument(
  { content: { saved, operations } }: SandboxFile,
  { getApi }: ControlServer,
): OperationDocuments | undefined {
  const served = getApi().resources.flatMap(({ userSource }) => userSource ?? []);
  const missing = operations.filter(
    (one) => !served.some(({ source, sha256 }) => source === one.source || (sha256 && sha256 === one.sha256)),
  );
  const { openapi, bindings } = saved.operations ?? {};
  const isServed = served.some(
    ({ content: { openapi: text, bindings: bound } = {} }) => text === openapi && bound === bindings,
  );
  if (missing.length === 0) return isServed ? undefined : (saved.operations ?? undefined);
  const [{ content }] = missing as [SandboxFile["content"]["operations"][0]];
  if (missing.length === 1 && content !== undefined && saved.operations == null) return content;
  const files = missing.map(({ source, sha256 = "unknown" }) => `${source} (SHA-256 ${sha256.slice(0, 12)})`);
  const flags = missing.map(
    (one) => `--${one.content ? "openapi" : "operations"} ${toShellWord(one.source)}`,
  );
  throw unreadable(
    `needs the operations of ${files.join(" and ")}; open it where these files are, with \`understudy open FILE ${flags.join(" ")}\``,
  );
}

/** `create` gives the sandbox its name; `addedScenarios` receives the names of the scenarios that the server gets. */
async function restore(
  server: ControlServer,
  { content, journal }: SandboxFile,
  {
    name,
    create,
    addedScenarios,
  }: { name: string; create: SandboxRegistry["restoreSaved"]; addedScenarios: string[] },
): Promise<Sandbox> {
  const { fixtures, uploads, getApi, wallClock, log } = server;
  // If a step fails, the caller of this function deletes the sandbox.
  const sandboxes = { restoreSaved: create, delete: () => {} };
  const validator = createSavedValidator(getApi, log);
  const restorer = new SandboxRestorer({ sandboxes, fixtures, uploads, getApi, validator, wallClock, log });
  // A scenario of the file may match operations of the file's own.
  const { api } = await restorer.readOwnOperations(name, content.saved.operations);
  for (const one of content.scenarios)
    if (server.scenarios.addDocument(one.name, one.document, api)) addedScenarios.push(one.name);
  const sandbox = await restorer.restoreDocument(name, content.saved);
  if (content.uploads !== undefined) {
    const captured = await uploads.decode(content.uploads);
    uploads.restore(sandbox, captured);
    uploads.release(captured);
  }
  const { history, source, seed, world } = sandbox;
  decodeStates(history, content.states, {
    collections: sandbox.api.collections,
    base: source.buildRoot(seed),
    currentRoot: world.root,
    uploads: sandbox.peekUploads(),
  });
  const { resources } = sandbox.api;
  checkPastRecords(resources, history.versions.steps, world.toValue());
  sandbox.journal.restoreSaved(journal.entries.map(toEntry), journal.dropped);
  server.recordings.markNotReplayable(sandbox, "it was opened from a file");
  return sandbox;
}

function findFreeName(name: string, isTaken: (name: string) => boolean): string {
  for (let number = 1; ; number += 1) {
    const one = number === 1 ? name : `${name.slice(0, 56)}-${number}`;
    if (!isTaken(one)) return one;
  }
}

function toEntry({ request_body, response_body, ...stored }: StoredExchange): SavedJournalEntry {
  return { ...stored, request_body: toBytes(request_body), response_body: toBytes(response_body) };
}

function toBytes(body: BundleBody | undefined): Uint8Array | undefined {
  if (body === undefined) return undefined;
  return "text" in body ? toUtf8(body.text) : fromLatin1(body.latin1);
}
