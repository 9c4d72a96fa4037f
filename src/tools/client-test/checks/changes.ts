import type { JournalEntry } from "../../../../types/control-api.ts";
import {
  type ClientCheck,
  describeRequest,
  failed,
  findHeader,
  findHit,
  findTarget,
  hitRequest,
  isSameCall,
  listAfter,
  makeRule,
  notObservable,
  passed,
} from "../client-check.ts";

const getHeader = (entry: JournalEntry, name: string) => findHeader(entry.request.headers, name);

/** The request takes effect, and its answer gets lost. */
const LOSE_ANSWER = { times: 1, phase: "after", effect: { wire: "reset" } } as const;

/** A second upload URL does no harm. */
const isChange = ({ method, operation, history }: JournalEntry) =>
  method === "POST" && history !== null && !operation?.includes("upload_url");

/** The change took effect although its answer was lost, which the client cannot know. */
const noBlindRepeat: ClientCheck = {
  id: "no-blind-repeat",
  title: "does not repeat a change blindly when its answer was lost",
  severity: "error",
  advice:
    "A lost answer does not mean a lost change. Before you send a POST again, read whether it took effect, or send it with the same idempotency key.",
  stage: hitRequest(
    (baseline) => findTarget(baseline, isChange),
    LOSE_ANSWER,
    "the client made no successful POST that changes something",
  ),
  read({ run, baseline, isMixed }) {
    const isLost = ({ method, history, fault }: JournalEntry) =>
      method === "POST" && history !== null && fault?.replaced !== "nothing";
    const hit = findHit(run, isLost);
    if (hit === undefined) return notObservable("the POST whose answer was to get lost was not sent");
    const later = listAfter(run, hit);
    const repeats = later.filter((one) => isSameCall(one, hit));
    const repeat = repeats.find(({ history }) => history !== null) ?? repeats[0];
    // Without failures, the client may send equal requests too.
    const usual = isMixed ? 1 : baseline.requests.filter((one) => isSameCall(one, hit)).length;
    if (repeat === undefined || repeats.length < usual)
      return passed(`it did not send ${describeRequest(hit)} again`, [hit]);
    const key = getHeader(hit, "idempotency-key");
    if (key !== undefined && key === getHeader(repeat, "idempotency-key"))
      return passed("it repeated the request with the same idempotency key", [hit, repeat]);
    // The service itself made the change once: it knew the request by an id, or refused the second one.
    if (repeat.history === null)
      return passed("it sent the request again, which changed nothing", [hit, repeat]);
    const before = later.slice(0, later.indexOf(repeat));
    const reads = before.filter(({ method }) => method === "GET" || method === "HEAD");
    return reads.length > 0
      ? passed("it read something before it sent the request again", [hit, ...reads, repeat])
      : failed(`it sent ${describeRequest(hit)} again, so the change was made twice`, [hit, repeat]);
  },
};

const isUploadPart = ({ operation, method, path }: JournalEntry) =>
  method === "PUT" && (operation?.includes("upload") === true || path.includes("/uploads/"));

const getRange = (entry: JournalEntry) => getHeader(entry, "content-range") ?? "";

const getFileSize = (entry: JournalEntry) =>
  /\/(.+)$/.exec(getRange(entry))?.[1] ?? getHeader(entry, "content-length");

/** Bytes; the smallest piece of a resumable upload. */
const MIN_CHUNK_BYTES = 256 * 1024;

/** Whether it asks how much of the upload has arrived. */
const isStatusQuery = (entry: JournalEntry) => /^bytes \*\//.test(getRange(entry));

const resumesUploads: ClientCheck = {
  id: "resumes-uploads",
  title: "resumes an upload at the byte that the server has confirmed",
  severity: "error",
  advice:
    "After a broken upload send an empty PUT with `Content-Range: bytes */TOTAL`, and go on after the `Range` of its answer.",
  stage: {
    rules(baseline) {
      const target = baseline.requests.find(
        (entry) => isUploadPart(entry) && entry.status > 0 && !isStatusQuery(entry),
      );
      if (target === undefined) return "the client uploaded nothing by PUT";
      const range = getHeader(target, "content-range");
      // A status query of the upload has the same path, but another range.
      return [makeRule(target, LOSE_ANSWER, { header: { "content-range": range ?? null } })];
    },
  },
  read({ run }) {
    const hit = findHit(run, (entry) => isUploadPart(entry) && !isStatusQuery(entry) && entry.status === 0);
    if (hit === undefined) return notObservable("the upload whose answer was to get lost was not sent");
    // Another file may be uploaded meanwhile. The size tells them apart: the id in the URL is masked.
    const isOfSameFile = (one: JournalEntry) => isStatusQuery(one) || getFileSize(one) === getFileSize(hit);
    const next = listAfter(run, hit).find((one) => isUploadPart(one) && isOfSameFile(one));
    if (next === undefined) return notObservable("it did not go on with the upload");
    if (getRange(next) === "" && Number(getHeader(next, "content-length")) <= MIN_CHUNK_BYTES)
      return notObservable("it sent a small upload again in one piece, which is allowed");
    return isStatusQuery(next)
      ? passed("it asked how much had arrived", [hit, next])
      : failed(`it sent ${getRange(next) || "all bytes"} again without asking how much had arrived`, [
          hit,
          next,
        ]);
  },
};

export const CHANGE_CHECKS: readonly ClientCheck[] = [noBlindRepeat, resumesUploads];
