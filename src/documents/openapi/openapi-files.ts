import { toHex } from "../../engine/bytes.ts";
import { isJsonObject } from "../../engine/contract/schema.ts";
import { documentError } from "../../engine/documents/document-error.ts";
import { readDocument } from "../../engine/documents/read-document.ts";
import type { UserDocument } from "../../engine/documents/user-document.ts";
import type { OperationSource } from "../../engine/own/join.ts";
import { digest } from "../../engine/platform.ts";
import { ChangeListeners } from "../../engine/state/concurrency.ts";
import { formatPath, getFileVersion, readFileText, resolveFile } from "../files.ts";
import { dirname, resolve } from "../node-files.ts";
import { followVersions, type OwnFiles } from "../watch-documents.ts";
import { openDocument } from "./open-document.ts";
import { type OpenApiDocument, toOperationSource } from "./openapi-source.ts";

const MAX_BYTES = 64 * 1024 * 1024;

/** The files of `--openapi`: documents, and files with bindings that name one. */
export class OpenApiFiles implements OwnFiles {
  private readonly paths: readonly string[];
  private readonly cwd: string;
  private readonly listeners = new ChangeListeners();
  /** By real path. */
  private readonly versions = new Map<string, string>();
  readonly files = followVersions(this.versions, this.listeners);

  constructor(paths: readonly string[], cwd = process.cwd()) {
    this.paths = paths;
    this.cwd = cwd;
  }

  /**
   * Reads the newest version of all files.
   * @throws DocumentError for one that cannot be used
   */
  async load(): Promise<readonly OperationSource[]> {
    try {
      return this.paths.map((path) => toOperationSource(this.open(resolve(this.cwd, path))));
    } finally {
      this.listeners.notify();
    }
  }

  private open(file: string): OpenApiDocument {
    const { text, displayName } = this.read(file);
    const document = openDocument(text, displayName);
    // A version in an OpenAPI document, a path in a file of bindings.
    const { openapi: versionOrPath, paths } = isJsonObject(document.value) ? document.value : {};
    if (typeof versionOrPath !== "string" || paths !== undefined || /^[\d.]+(-\w+)?$/.test(versionOrPath))
      return { document, sha256: toDigest(text) };
    return this.openNamedDocument(versionOrPath, {
      file,
      bindings: readDocument(text, { file: displayName }),
    });
  }

  /** The document that a file with bindings names. */
  private openNamedDocument(
    documentPath: string,
    { file, bindings }: { file: string; bindings: UserDocument },
  ): OpenApiDocument {
    if (/^[a-z][\w+.-]*:\/\//i.test(documentPath))
      throw documentError(
        bindings.file,
        bindings.locate(["openapi"]),
        `${documentPath} is not a file; nothing is fetched, so download the document`,
      );
    const { text, displayName } = this.read(resolve(dirname(file), documentPath));
    const sha256 = toDigest(`${bindings.text}\0${text}`);
    return { document: openDocument(text, displayName), bindings, sha256 };
  }

  private read(file: string): { text: string; displayName: string } {
    const displayName = formatPath(file, this.cwd);
    const real = resolveFile(file) ?? file;
    this.versions.set(real, getFileVersion(real));
    const { text } = readFileText(real, { displayName, noun: "an OpenAPI document", maxBytes: MAX_BYTES });
    return { text, displayName };
  }
}

function toDigest(text: string): string {
  return toHex(digest("sha256", text));
}
