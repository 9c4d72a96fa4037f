import type { JournalEntry } from "../../../types/control-api.ts";
import { CLIENT_CHECKS } from "./checks/index.ts";
import { type ClientFinding, type ClientRun, notObservable, type RunEnd } from "./client-check.ts";

interface StageOfRun {
  end: RunEnd;
  scenario: string;
  /** As `scenario/stage`; undefined for the whole run. */
  stage: string | undefined;
}

/** The requests of a stage, and those after it, which show how the client took its failures. */
export function toStageRun(
  requests: readonly JournalEntry[],
  { end, scenario, stage }: StageOfRun,
): ClientRun {
  const isOfStage = ({ stages = [] }: JournalEntry) => stage === undefined || stages.includes(stage);
  const first = requests.findIndex(isOfStage);
  const isHit = (entry: JournalEntry) => isOfStage(entry) && entry.decision.startsWith(`fault:${scenario}/`);
  return { end, isHit, requests: first < 0 ? [] : requests.slice(first) };
}

/** Reads a check from requests whose failures a scenario staged. @param isReal whether their instants are the client's */
export function readCheck(id: string, { run, isReal }: { run: ClientRun; isReal: boolean }): ClientFinding {
  const check = CLIENT_CHECKS.find((one) => one.id === id)!;
  if (check.readsTime && !isReal)
    return notObservable("the sandbox's clock does not run as the client's does, so pauses cannot be seen");
  const baseline = { ...run, requests: run.requests.filter((entry) => !run.isHit(entry)) };
  return check.read({ run, baseline, collected: undefined });
}
