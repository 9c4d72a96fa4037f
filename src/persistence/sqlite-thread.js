// The thread in which the embedded engine works: it is synchronous, and a flush must not hold up requests.
// Plain JavaScript, since a thread cannot be started from TypeScript on Node 20.

import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import Database from "libsql";

const { file, acknowledged, formatId, formatVersion } = workerData;
/** Sorts behind every section that begins with the same characters. */
const LAST_CHARACTER = "\u{10FFFF}";

let db;
let statements;
let inode;
/** Inside a transaction that has not been refused. */
let isOpen = false;
let changed = false;
/** Commits of this database, and the changes in them. */
let saved = { saves: 0, changes: 0 };
let unsaved = 0;
let note;
let idle;
/** Without commits; after it, the database is whole without its log. */
const IDLE_MS = 1000;
const BUSY_MS = 5000;

function open({ isFresh }) {
  db = new Database(file);
  try {
    // Other programs may read; another server is kept out by a lock of its own.
    db.pragma(`busy_timeout = ${BUSY_MS}`);
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = FULL");
    db.exec("BEGIN IMMEDIATE");
    const version = db.pragma("user_version")[0].user_version;
    if (version > formatVersion) throw Object.assign(new Error(String(version)), { code: "NEWER" });
    if (!isFresh) checkWhole();
    db.exec(`CREATE TABLE IF NOT EXISTS rows (
      sandbox TEXT NOT NULL, section TEXT NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL,
      PRIMARY KEY (sandbox, section, id)) WITHOUT ROWID`);
    db.exec(
      "CREATE TABLE IF NOT EXISTS saved (one INTEGER PRIMARY KEY, saves INTEGER NOT NULL, changes INTEGER NOT NULL)",
    );
    if (version === 0) {
      db.pragma(`application_id = ${formatId}`);
      db.pragma(`user_version = ${formatVersion}`);
    }
    db.exec("COMMIT");
    // What tells the format of the file has to stand in the file itself, where it is read before it is opened.
    if (version === 0) db.pragma("wal_checkpoint(TRUNCATE)");
  } catch (error) {
    db.close();
    throw error;
  }
  statements = {
    put: db.prepare(
      "INSERT INTO rows VALUES (?, ?, ?, ?) ON CONFLICT (sandbox, section, id) DO UPDATE SET text = excluded.text",
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
  saved = { saves, changes };
  if (note !== undefined) closeSync(note);
  note = undefined;
  return saved;
}

/** After the file had been missing; it may be back, or there is another one, or none. */
function reopen() {
  if (statSync(file, { throwIfNoEntry: false })?.ino === inode) return;
  db.close();
  open({ isFresh: false });
}

function checkWhole() {
  const [found] = db.pragma("quick_check(1)");
  if (Object.values(found)[0] !== "ok") {
    throw Object.assign(new Error(Object.values(found)[0]), { code: "SQLITE_CORRUPT" });
  }
}

function apply({ changes, begins, ends }) {
  try {
    if (begins) begin();
    if (!isOpen) throw new Error("no transaction is open");
    for (const change of changes) applyOne(change);
    unsaved += changes.length;
    if (!ends) return;
    const next = { saves: saved.saves + 1, changes: saved.changes + unsaved };
    statements.save.run(next.saves, next.changes);
    db.exec("COMMIT");
    isOpen = false;
    changed = true;
    saved = next;
    noteSaved();
    clearTimeout(idle);
    idle = setTimeout(emptyLog, IDLE_MS);
  } catch (error) {
    rollBack();
    throw error;
  }
}

function begin() {
  // A file that was deleted or replaced takes writes without a word, and nobody would ever read them.
  if (statSync(file).ino !== inode) throw Object.assign(new Error("replaced"), { code: "ENOENT" });
  db.exec("BEGIN IMMEDIATE");
  isOpen = true;
  unsaved = 0;
}

/** Of one length, so that a process that is killed leaves the text before or this one. */
function noteSaved() {
  const text = JSON.stringify({ ...saved, at: new Date().toISOString() });
  try {
    note ??= openSync(acknowledged, "w", 0o600);
    writeSync(note, `${text.padEnd(120)}\n`, 0);
  } catch {
    // The commit itself is on disk; only its loss would not be noticed.
  }
}

/** So that a copy of the database alone has everything. A reader may keep the log in use; then it is emptied later. */
function emptyLog() {
  db.pragma("busy_timeout = 0");
  try {
    db.pragma("wal_checkpoint(TRUNCATE)");
  } catch {
    // The log stays, and the next commit comes back to it.
  }
  db.pragma(`busy_timeout = ${BUSY_MS}`);
}

function applyOne({ sandbox, section, id, text, clear }) {
  if (clear !== undefined) statements.clear.run(sandbox, clear, clear + LAST_CHARACTER);
  else if (text === null) statements.remove.run(sandbox, section, id);
  else statements.put.run(sandbox, section, id, text);
}

function rollBack() {
  isOpen = false;
  try {
    db.exec("ROLLBACK");
  } catch {
    // The engine has done so itself.
  }
}

/** A copy that is whole, in place of the copy before. */
function copyTo({ copy }) {
  if (!changed && statSync(copy, { throwIfNoEntry: false }) !== undefined) return;
  const draft = `${copy}.draft`;
  rmSync(draft, { force: true });
  try {
    // Made first, for its mode: it holds keys and secrets.
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
  changed = false;
}

const WORK = {
  open,
  reopen,
  apply,
  rollBack,
  copyTo,
  list: () => statements.list.all().map(({ sandbox }) => sandbox),
  load: ({ sandbox }) => statements.load.all(sandbox),
  close() {
    clearTimeout(idle);
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
