import { isDeepStrictEqual } from "node:util";
import { getSentFields, hasSucceeded, isMasked, toExcerpt } from "../check-answer.ts";
import type { Contract } from "../contract.ts";
import type { Exchange } from "../target.ts";
import type { Verdict } from "../verdict.ts";
import type { RecordedCheck } from "./every-operation.ts";

/** Other clients, which the recording does not show, may have undone an older change. */
const RECENT_MS = 60_000;

const MAX_FOLLOWED = 50;

function remember(changes: Map<string, Exchange>, key: string, change: Exchange): void {
  changes.delete(key);
  changes.set(key, change);
  if (changes.size > MAX_FOLLOWED) changes.delete(changes.keys().next().value!);
}

/** Whether `later` began after `earlier` had ended, and less than `withinMs` after `earlier` began. */
function follows(later: Exchange, earlier: Exchange, withinMs = RECENT_MS): boolean {
  const { at: began, duration } = earlier.recorded!;
  const { at } = later.recorded!;
  return at >= began + duration && at - began < withinMs;
}

/** Whether a change was made to what the path of `read` names, such as an organization. */
function hasSameParams(read: Exchange, change: Exchange): boolean {
  return Object.entries(read.sent.params).every(([name, value]) => change.sent.params[name] === value);
}

/** Operations that change something, and those that show the change. */
const CHANGES: readonly {
  write: string;
  read: string;
  find: (body: Exchange["json"], sent: Exchange) => unknown;
  /** The operation after which the change is no longer shown. */
  replacedBy?: string;
  /** By name of a field: the assumption that a change sets it to exactly the sent value. */
  assumptions?: Readonly<Record<string, string>>;
}[] = [
  {
    write: "webhooks.create",
    read: "webhooks.list",
    find: ({ data }, { json }) =>
      data.find((one: { webhook_id: string }) => one.webhook_id === json?.data?.webhook_id),
    replacedBy: "webhooks.update",
  },
  {
    write: "webhooks.update",
    read: "webhooks.list",
    find: ({ data }, { sent }) =>
      data.find((one: { webhook_id: string }) => one.webhook_id === sent.params["webhook_id"]),
    assumptions: { description: "G23" },
  },
  {
    write: "connector_notifications.update",
    read: "connector_notifications.retrieve",
    find: (body) => body,
    assumptions: { notifications: "G15" },
  },
];

/** Later answers of a recording must show its changes and deletions. */
export function createOverTimeChecks({ operations }: Contract): RecordedCheck[] {
  // Revoking a link again changes nothing (section 3.4). An own operation may restore what another deleted.
  const deletions = operations.filter(
    ({ method, id, sourceFile }) =>
      method === "DELETE" && id !== "share_links.revoke" && sourceFile === undefined,
  );
  const deletionChecks = deletions.map(
    ({ id, section }): RecordedCheck => ({
      id: `${id}/gone`,
      family: "answers",
      section,
      title: `${id}: deleted objects stay deleted`,
      observe: { begin: () => observeDeletions(id) },
    }),
  );
  const changeChecks = CHANGES.map(
    ({ write, read, find, replacedBy, assumptions = {} }): RecordedCheck => ({
      id: `${write}/sticks`,
      family: "answers",
      section: operations.find(({ id }) => id === write)!.section,
      title: `${read} shows what ${write} has changed`,
      observe: {
        begin() {
          const changes = new Map<string, Exchange>();
          return (verdict, exchange) => {
            const { operation, path, status, recorded } = exchange;
            const { id } = operation!;
            const isUsable = hasSucceeded(exchange) && recorded!.hasWholeBodies;
            // A change may have been made although its answer is a 5xx or its body is missing.
            if (id === replacedBy || (id === write && !isUsable && (status < 400 || status >= 500)))
              changes.clear();
            if (!isUsable) return;
            if (id === write) {
              const earlier = changes.get(path);
              remember(changes, path, exchange);
              // Either of two changes at the same time may be the last.
              if (earlier && !follows(exchange, earlier, Number.POSITIVE_INFINITY)) changes.delete(path);
            }
            if (id !== read) return;
            for (const change of changes.values())
              if (follows(exchange, change) && hasSameParams(exchange, change))
                checkChange(verdict, { change, assumptions }, find(exchange.json, change));
          };
        },
      },
    }),
  );
  return [...deletionChecks, ...changeChecks, revokedAgain, cancelledJobs];
}

const revokedAgain: RecordedCheck = {
  id: "share_links.revoke/again",
  family: "answers",
  section: "3.4",
  title: "share_links.revoke answers the same for a revoked link",
  observe: {
    operation: "share_links.revoke",
    begin() {
      const revoked = new Map<string, Exchange>();
      return (verdict, exchange) => {
        const { path, status, sent, headers } = exchange;
        const credentials = ["api-key", "x-api-key", "authorization"].map((name) => sent.headers.get(name));
        const key = JSON.stringify([path, headers.get("service-organization"), credentials]);
        const earlier = revoked.get(key);
        if (earlier !== undefined && status === 404 && follows(exchange, earlier))
          verdict.expect(false, `DELETE ${path} answers 404 to a link that is revoked already`);
        if (hasSucceeded(exchange)) remember(revoked, key, exchange);
      };
    },
  },
};

const cancelledJobs: RecordedCheck = {
  id: "connector_jobs.cancel/sticks",
  family: "answers",
  section: "G14",
  title: "connector_jobs.retrieve shows that a cancelled job no longer runs",
  observe: {
    begin() {
      const cancelled = new Map<string, Exchange>();
      return (verdict, exchange) => {
        if (!hasSucceeded(exchange)) return;
        const { operation, sent, json } = exchange;
        const job_id = sent.params["job_id"];
        if (job_id === undefined) return;
        if (operation!.id === "connector_jobs.cancel") remember(cancelled, job_id, exchange);
        const earlier = cancelled.get(job_id);
        if (operation!.id !== "connector_jobs.retrieve" || earlier === undefined) return;
        const isRunning = follows(exchange, earlier) && json?.status === "running";
        verdict.expect(!isRunning, `${job_id} is running after its cancellation`, "G14");
      };
    },
  },
};

function observeDeletions(operation: string): (verdict: Verdict, exchange: Exchange) => void {
  const deletions = new Map<string, Exchange>();
  return (verdict, exchange) => {
    if (!hasSucceeded(exchange)) return;
    const { method, path, json, sent } = exchange;
    const text = JSON.stringify(json ?? null);
    // The service generates ids, so a deleted one never returns; answers about other resources may still contain it.
    const isSameResource = exchange.operation!.id.split(".")[0] === operation.split(".")[0];
    for (const [id, deletion] of deletions) {
      if (!follows(exchange, deletion, isSameResource ? Number.POSITIVE_INFINITY : RECENT_MS)) continue;
      // Its id is a parameter of the request, or an object in the answer has it; a log entry names it as a `resource_id`.
      const isShown = text.replaceAll(`"resource_id":"${id}"`, "").includes(`_id":"${id}"`);
      const isAbout = isShown || Object.values(sent.params).includes(id);
      verdict.expect(!isAbout, `${method} ${path} answers ${toExcerpt(id)} after its deletion`);
    }
    const id = Object.values(sent.params).at(-1);
    if (exchange.operation!.id === operation && id !== undefined) remember(deletions, id, exchange);
  };
}

function checkChange(
  verdict: Verdict,
  { change, assumptions }: { change: Exchange; assumptions: Readonly<Record<string, string>> },
  record: unknown,
): void {
  if (typeof record !== "object" || record === null) return;
  for (const [name, expected] of Object.entries(getSentFields(change))) {
    const actual = (record as Record<string, unknown>)[name];
    // A delivery that is answered 410 disables its webhook (section 3.3).
    if (name === "active" && actual === false) continue;
    if (actual === undefined || isMasked(JSON.stringify([actual, expected]))) continue;
    const problem = `${name} is ${toExcerpt(actual)} after ${change.method} ${change.path} set it to ${toExcerpt(expected)}`;
    const isOtherLength = Array.isArray(expected) && expected.length !== (actual as unknown[] | null)?.length;
    verdict.expect(
      isDeepStrictEqual(actual, expected),
      problem,
      isOtherLength ? undefined : assumptions[name],
    );
  }
}
