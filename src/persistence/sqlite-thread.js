// The thread of the database, since its calls are synchronous and must not block requests. Plain JavaScript,
// since Node 20 cannot start a thread from TypeScript.

import { isUtf8 } from "node:buffer";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { crc32 } from "node:zlib";
import Database from "libsql";

const { file, acknowledgedFile, formatId, formatVersion } = workerData;
/** Sorts after every section with the same prefix. */
const LAST_CHARACTER = "\u{10FFFF}";

let db;
let statements;
let inode;
let isInTransaction = false;
/** Whether this server has changed the database since the last copy. */
let isCopyStale = false;
/** Commits of this database, and the changes in them. */
let counts = { saves: 0, changes: 0 };
/** Changes in the open transaction. */
let openChanges = 0;
/** The open file with the acknowledged counts. */
let acknowledgedHandle;
let idleTimer;
/** After this time without commits, the log is written to the database. */
const IDLE_MS = 1000;
const BUSY_MS = 5000;

function open() {
  db = new Database(file);
  try {
    // Other programs may read; a separate lock excludes other servers.
    db.pragma(`busy_timeout = ${BUSY_MS}`);
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = FULL");
    db.exec("BEGIN IMMEDIATE");
    const version = db.pragma("user_version")[0].user_version;
    if (version > formatVersion) throw Object.assign(new Error(String(version)), { code: "NEWER" });
    checkStructure();
    db.exec(`CREATE TABLE IF NOT EXISTS rows (
      sandbox TEXT NOT NULL, section TEXT NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL, checksum INTEGER,
      PRIMARY KEY (sandbox, section, id)) WITHOUT ROWID`);
    db.exec(
      "CREATE TABLE IF NOT EXISTS saved (one INTEGER PRIMARY KEY, saves INTEGER NOT NULL, changes INTEGER NOT NULL)",
    );
    if (version === 1 || version === 2) db.exec("ALTER TABLE rows ADD COLUMN checksum INTEGER");
    if (version < formatVersion) {
      db.pragma(`application_id = ${formatId}`);
      db.pragma(`user_version = ${formatVersion}`);
    }
    db.exec("COMMIT");
    // The header must be in the file itself, not in its log, since it is read before the database is opened.
    if (version < formatVersion) db.pragma("wal_checkpoint(TRUNCATE)");
  } catch (error) {
    db.close();
    throw error;
  }
  statements = {
    put: db.prepare(
      "INSERT INTO rows VALUES (?, ?, ?, ?, ?) ON CONFLICT (sandbox, section, id) DO UPDATE SET text = excluded.text, checksum = excluded.checksum",
    ),
    remove: db.prepare("DELETE FROM rows WHERE sandbox = ? AND section = ? AND id = ?"),
    clear: db.prepare("DELETE FROM rows WHERE sandbox = ? AND section >= ? AND section < ?"),
    list: db.prepare("SELECT DISTINCT sandbox FROM rows ORDER BY sandbox"),
    save: db.prepare(
      "INSERT INTO saved VALUES (1, ?, ?) ON CONFLICT (one) DO UPDATE SET saves = excluded.saves, changes = excluded.changes",
    ),
    load: db.prepare("SELECT section, id, text FROM rows WHERE sandbox = ? ORDER BY section, id"),
  };
  inode = statSync(file).ino;
  const [{ saves, changes } = { saves: 0, changes: 0 }] = db
    .prepare("SELECT saves, changes FROM saved")
    .all();
  counts = { saves, changes };
  if (acknowledgedHandle !== undefined) closeSync(acknowledgedHandle);
  acknowledgedHandle = undefined;
  return { ...counts, damaged: findDamaged() };
}

/** For a file that was missing: it may be back, replaced, or still missing. */
function reopen() {
  if (statSync(file, { throwIfNoEntry: false })?.ino === inode) return;
  db.close();
  open();
}

function checkStructure() {
  const [found] = db.pragma("quick_check(1)");
  if (Object.values(found)[0] !== "ok") {
    throw Object.assign(new Error(Object.values(found)[0]), { code: "SQLITE_CORRUPT" });
  }
}

/** The first changes begin a transaction, which `commit` ends. */
function apply({ changes }) {
  try {
    if (!isInTransaction) begin();
    for (const change of changes) applyOne(change);
    openChanges += changes.length;
  } catch (error) {
    rollBack();
    throw error;
  }
}

function commit() {
  if (!isInTransaction) return;
  const next = { saves: counts.saves + 1, changes: counts.changes + openChanges };
  try {
    statements.save.run(next.saves, next.changes);
    db.exec("COMMIT");
  } catch (error) {
    rollBack();
    throw error;
  }
  isInTransaction = false;
  isCopyStale = true;
  counts = next;
  recordAcknowledged();
  clearTimeout(idleTimer);
  idleTimer = setTimeout(emptyLog, IDLE_MS);
}

function begin() {
  // Writes to a deleted or replaced file succeed, but are lost.
  if (statSync(file).ino !== inode) throw Object.assign(new Error("replaced"), { code: "ENOENT" });
  db.exec("BEGIN IMMEDIATE");
  isInTransaction = true;
  openChanges = 0;
}

/** Its length is constant, so that a killed process leaves either the previous text or this one. */
function recordAcknowledged() {
  const acknowledged = { ...counts, at: new Date().toISOString() };
  const text = JSON.stringify({ ...acknowledged, checksum: crc32(JSON.stringify(acknowledged)) });
  try {
    acknowledgedHandle ??= openSync(acknowledgedFile, "w", 0o600);
    writeSync(acknowledgedHandle, `${text.padEnd(120)}\n`, 0);
  } catch {
    // The commit is on disk; without this, only a later loss would not be noticed.
  }
}

/** Moves the log into the database file, so that a copy of that file is complete. If a reader uses the log, that happens later. */
function emptyLog() {
  db.pragma("busy_timeout = 0");
  try {
    db.pragma("wal_checkpoint(TRUNCATE)");
  } catch {
    // The log stays until the next commit.
  }
  db.pragma(`busy_timeout = ${BUSY_MS}`);
}

function applyOne({ sandbox, section, id, text, clearPrefix }) {
  if (clearPrefix !== undefined) statements.clear.run(sandbox, clearPrefix, clearPrefix + LAST_CHARACTER);
  else if (text === null) statements.remove.run(sandbox, section, id);
  else statements.put.run(sandbox, section, id, text, computeChecksum({ sandbox, section, id, text }));
}

function computeChecksum({ sandbox, section, id, text }) {
  return crc32(JSON.stringify([sandbox, section, id, text]));
}

const AS_BYTES = ["sandbox", "section", "id", "text"].map((name) => `CAST(${name} AS BLOB) AS ${name}`);

/**
 * All rows in the order of the file, since a search misses rows beside one with a damaged key. As bytes,
 * since SQLite's binding ends the process at a text that is not UTF-8.
 */
function* readRows() {
  for (const { checksum, ...values } of db.prepare(`SELECT ${AS_BYTES}, checksum FROM rows`).iterate()) {
    const bytes = Object.entries(values).map(([name, value]) => [name, Buffer.from(value)]);
    const row = Object.fromEntries(bytes.map(([name, value]) => [name, String(value)]));
    // Rows of an earlier version have no checksum.
    const isIntact =
      checksum === null ? bytes.every(([, value]) => isUtf8(value)) : checksum === computeChecksum(row);
    yield { row, isIntact };
  }
}

/** Finds damaged rows; SQLite itself detects only damage to the structure of the file. */
function findDamaged() {
  const damaged = [];
  for (const { row, isIntact } of readRows())
    if (!isIntact) damaged.push(`${row.section}/${row.id} of sandbox ${row.sandbox}`);
  return damaged;
}

/** Writes all rows again, in the order of their keys and with their checksums. */
function rewriteRows() {
  const rows = [...readRows()].map(({ row }) => row);
  db.exec("BEGIN IMMEDIATE; DELETE FROM rows");
  for (const row of rows) applyOne(row);
  db.exec("COMMIT");
}

function rollBack() {
  isInTransaction = false;
  try {
    db.exec("ROLLBACK");
  } catch {
    // SQLite has already done so.
  }
}

/** Replaces the previous copy by a complete one. */
function copyTo({ copy }) {
  const previous = statSync(copy, { throwIfNoEntry: false });
  if (!isCopyStale && previous?.mtimeMs >= statSync(file).mtimeMs) return;
  const draft = `${copy}.draft`;
  rmSync(draft, { force: true });
  try {
    // The file is created first, with its mode, since it contains keys and secrets.
    closeSync(openSync(draft, "w", 0o600));
    db.exec(`VACUUM INTO '${draft.replaceAll("'", "''")}'`);
    const handle = openSync(draft, "r+");
    fsyncSync(handle);
    closeSync(handle);
    renameSync(draft, copy);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  isCopyStale = false;
}

const WORK = {
  open,
  reopen,
  apply,
  commit,
  rollBack,
  copyTo,
  list: () => statements.list.all().map(({ sandbox }) => sandbox),
  load: ({ sandbox }) => statements.load.all(sandbox),
  rewriteRows,
  close() {
    clearTimeout(idleTimer);
    db.close();
  },
};

parentPort.on("message", ({ number, work, input }) => {
  try {
    parentPort.postMessage({ number, value: WORK[work](input) });
  } catch (error) {
    parentPort.postMessage({ number, error: { code: error.code ?? "", message: error.message } });
  }
});
