import type { JournalEntry } from "../../../types/control-api.ts";
import { CLIENT_CHECKS } from "./checks/index.ts";
import { type ClientFinding, type ClientRun, isSameCall, notObservable } from "./client-check.ts";

interface RunStage {
  end: ClientRun["end"];
  /** The scenario, or `inline`. */
  source: string;
  /** The stage as `scenario/stage`; undefined for the whole run. */
  stage: string | undefined;
}

/** The requests of a stage, and those after it, which show how the client took its failures. */
export function toStageRun(requests: readonly JournalEntry[], { end, source, stage }: RunStage): ClientRun {
  const isOfStage = ({ stages = [] }: JournalEntry) => stage === undefined || stages.includes(stage);
  const first = requests.findIndex(isOfStage);
  const isHit = (entry: JournalEntry) => isOfStage(entry) && entry.decision.startsWith(`fault:${source}/`);
  return { end, isHit, requests: first < 0 ? [] : requests.slice(first) };
}

const JOURNAL_INCOMPLETE = notObservable("the journal has evicted entries; raise the setting journal_limit");

interface ScenarioRun {
  run: ClientRun;
  requests: readonly JournalEntry[];
  /** Whether the sandbox's clock runs as the client's does. */
  isRealTime: boolean;
  /** How many requests the journal has evicted. */
  dropped: number;
}

/** Reads a check from requests whose failures a scenario staged. */
export function readCheck(id: string, { run, requests, isRealTime, dropped }: ScenarioRun): ClientFinding {
  const check = CLIENT_CHECKS.find((one) => one.id === id)!;
  if (check.readsTime && !isRealTime)
    return notObservable("the sandbox's clock does not run as the client's does, so pauses cannot be seen");
  const isClean = (entry: JournalEntry) => hasOwnAnswer(entry, requests);
  const baseline: ClientRun = {
    // A suite's command ends by itself.
    end: { how: "ok", detail: "" },
    isHit: () => false,
    requests: run.requests.filter(isClean),
  };
  const cleanRequests = requests.filter(isClean);
  const finding = check.read({ run, baseline, cleanRequests, isMixed: true, collected: undefined });
  const isShown = dropped === 0 || (check.countsRepetitions && finding.outcome === "failed");
  return isShown ? finding : JOURNAL_INCOMPLETE;
}

/**
 * Whether the client has received the operation's own answer. If it repeats a delayed request, it may have given up on
 * the answer.
 */
function hasOwnAnswer(entry: JournalEntry, requests: readonly JournalEntry[]): boolean {
  const { fault, sequence } = entry;
  if (fault === undefined) return true;
  return (
    fault.replaced === "nothing" && !requests.some((one) => one.sequence > sequence && isSameCall(one, entry))
  );
}
