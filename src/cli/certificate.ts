import { X509Certificate } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import { type Certificate, toLists } from "../hosts/node/create-server.ts";
import { makeCertificate } from "../hosts/node/make-certificate.ts";
import { runOrThrowUsageError, UsageError } from "./failure.ts";

export interface UsedCertificate extends Certificate {
  /** The file that clients have to trust; undefined if the user gave the certificate. */
  file?: string;
}

/** The certificate of `--cert` and `--key`, else the user's own for localhost. @throws UsageError */
export function readCertificate(cert: string | undefined, key: string | undefined): UsedCertificate {
  if (cert === undefined && key === undefined) return loadOwnCertificate(join(findDataFolder(), "tls"));
  if (cert === undefined || key === undefined)
    throw new UsageError(
      `--${cert === undefined ? "key needs --cert" : "cert needs --key"}, the other half of the pair`,
    );
  const certificate = { cert: readOptionFile("--cert", cert), key: readOptionFile("--key", key) };
  runOrThrowUsageError(`--cert ${cert} and --key ${key} cannot be used together`, () =>
    createSecureContext(toLists(certificate)),
  );
  return certificate;
}

function readOptionFile(option: string, file: string): string {
  return runOrThrowUsageError(`${option} ${file} cannot be read`, () => readFileSync(file, "utf8"));
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Browsers refuse certificates that are valid for longer. */
const VALID_DAYS = 397;
const RENEWAL_DAYS = 30;

/** The certificate is created once per user, and again before it expires. @throws UsageError */
function loadOwnCertificate(folder: string): UsedCertificate {
  const file = join(folder, "localhost.pem");
  const load = () => ({
    cert: readFileSync(file, "utf8"),
    key: readFileSync(join(folder, "localhost-key.pem"), "utf8"),
    file,
  });
  const isUsable = () => {
    try {
      const storedCertificate = load();
      createSecureContext(storedCertificate);
      const { validTo } = new X509Certificate(storedCertificate.cert);
      return Date.parse(validTo) - Date.now() > RENEWAL_DAYS * DAY_MS;
    } catch {
      return false;
    }
  };
  if (isUsable()) return load();
  const now = Date.now();
  const certificate = makeCertificate(new Date(now - DAY_MS), new Date(now + (VALID_DAYS - 1) * DAY_MS));
  try {
    mkdirSync(join(folder, ".."), { recursive: true, mode: 0o700 });
    // The folder is renamed into place, so that another start never reads half of a pair.
    const newFolder = mkdtempSync(`${folder}-`);
    writeFileSync(join(newFolder, "localhost.pem"), certificate.cert);
    writeFileSync(join(newFolder, "localhost-key.pem"), certificate.key, { mode: 0o600 });
    try {
      renameSync(newFolder, folder);
    } catch {
      // Another start has stored its certificate in the meantime, or there is one that cannot be used.
      if (isUsable()) rmSync(newFolder, { recursive: true });
      else {
        rmSync(folder, { recursive: true });
        renameSync(newFolder, folder);
      }
    }
    return load();
  } catch (error) {
    throw new UsageError(
      `--https cannot store its certificate: ${(error as Error).message}. Give --cert and --key`,
    );
  }
}

/** Understudy's folder, where programs of this system keep a user's data. */
function findDataFolder(): string {
  const { env, platform } = process;
  let parent = env["XDG_DATA_HOME"] || join(homedir(), ".local", "share");
  if (platform === "win32") parent = env["LOCALAPPDATA"] ?? join(homedir(), "AppData", "Local");
  if (platform === "darwin") parent = join(homedir(), "Library", "Application Support");
  return join(parent, "understudy");
}
