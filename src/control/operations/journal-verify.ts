import { type Static, Type } from "typebox";
import { parseDuration } from "../../engine/contract/duration.ts";
import { ClosedObject, Duration } from "../../engine/contract/schema.ts";
import { pluralize } from "../../engine/contract/text.ts";
import { users } from "../../engine/resources/users/schema.ts";
import { webhooks } from "../../engine/resources/webhooks/schema.ts";
import type { Journal } from "../../engine/sandbox/journal.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { abortAfter } from "../../engine/state/concurrency.ts";
import { checkInput } from "../check-input.ts";
import { EntryMatch, listPastOperations, type MatchableWords } from "../journal/match-entry.ts";
import {
  Count,
  createCountVerifier,
  createSequenceVerifier,
  type JournalVerifier,
  toBounds,
  VerificationBody,
} from "../journal/verify-journal.ts";
import { type ControlServer, OptionalFlag, operation } from "../operation.ts";
import { conflict, unknownName, unprocessable } from "../problem.ts";
import { waitForChange } from "../stream-entries.ts";

const Within = Type.Optional(
  Duration("a duration such as 5s", {
    description: "How long to wait until the expectation is met, on the wall clock; at most `2m`",
  }),
);

const CountExpectation = ClosedObject({ match: EntryMatch, count: Count, within: Within });
const SequenceExpectation = ClosedObject({
  sequence: Type.Array(EntryMatch, {
    minItems: 1,
    maxItems: 100,
    description: "The expected entries, in this order",
  }),
  strict: OptionalFlag("No other entry that one of the steps matches may be between them"),
  within: Within,
});
type Expectation = Static<typeof CountExpectation> | Static<typeof SequenceExpectation>;

export const Expectation = Type.Unsafe<Expectation>({
  $id: "Expectation",
  type: "object",
  anyOf: [CountExpectation, SequenceExpectation],
  examples: [
    { match: { operation: "threads.delete" }, count: 1 },
    { match: { event: "file.processed", status: 200 }, count: { min: 1 }, within: "5s" },
    { sequence: [{ operation: "files.create_upload_url" }, { operation: "files.register" }], strict: true },
  ],
});

export const VERIFY_JOURNAL = operation({
  id: "journal.verify",
  route: "POST /_control/sandboxes/{name}/journal/verify",
  summary: "Check whether expected requests or deliveries occurred, and show the nearest misses",
  description:
    "A match that nothing can satisfy is a 422. Examples are an unknown operation, event or code, an operation with the method or path of another, and an impossible path. While the journal is complete, a path, method, user or webhook that it has not seen is a 422 too. Once the journal has evicted entries, any other match is a 409, since the evicted entries might have matched.",
  reads: true,
  body: { kind: "json", schema: Expectation, validated: "by handler" },
  errors: ["journal-incomplete"],
  success: { status: 200, schema: VerificationBody },
  async handle({ server, body, sandbox, signal }) {
    const verify = createVerifier(body, listKnownWords(sandbox));
    const { journal } = sandbox;
    const wait = parseWait(body.within);
    const ended = AbortSignal.any([signal, abortAfter(wait)]);
    for (;;) {
      requireUndeleted(server, sandbox);
      requireCompleteJournal(journal);
      const { hopeless, ...verification } = verify(journal.entries());
      if (verification.ok || hopeless || wait === 0 || ended.aborted || journal.isClosed) return verification;
      await waitForChange([journal], ended);
    }
  },
});

/** @throws Problem 404 if the sandbox has been deleted during the call */
function requireUndeleted({ sandboxes }: ControlServer, sandbox: Sandbox): void {
  if (sandboxes.get(sandbox.name) === sandbox) return;
  const names = [...sandboxes.all()].map(({ name }) => name);
  throw unknownName("sandbox", sandbox.name, names);
}

/** @throws Problem 422 */
function createVerifier(body: Expectation, words: MatchableWords): JournalVerifier {
  if ("sequence" in body) {
    checkInput(SequenceExpectation, body);
    return createSequenceVerifier({ sequence: body.sequence, strict: body.strict ?? false }, words);
  }
  checkInput(CountExpectation, body);
  const { min, max } = toBounds(body.count);
  if (min > max) throw unprocessable("count", body.count, "must have a min that is at most its max");
  return createCountVerifier(body, words);
}

const MAX_WAIT_MS = 120_000;

/** @throws Problem 422 */
function parseWait(within: string | number | undefined): number {
  if (within === undefined) return 0;
  const wait = parseDuration(within);
  if (wait === undefined) throw unprocessable("within", within, "must be a duration such as 5s");
  if (wait > MAX_WAIT_MS) throw unprocessable("within", within, "must be at most 2m");
  return wait;
}

/** @throws Problem 409 */
function requireCompleteJournal({ dropped, isEvictedBySize }: Journal): void {
  if (dropped === 0) return;
  const remedy = "DELETE the journal before the requests that you verify";
  throw conflict(
    "journal-incomplete",
    `The journal has evicted ${pluralize(dropped, "entry", "entries")}, so nothing can be verified`,
    isEvictedBySize ? `${remedy}; it has at most 32 MB` : `raise the setting journal_limit, or ${remedy}`,
  );
}

/** The names that an expectation may contain. Once entries were evicted, any user, webhook and path is possible. */
function listKnownWords(sandbox: Sandbox): MatchableWords {
  const { api, world, journal, faults } = sandbox;
  const pastOperations = listPastOperations(sandbox);
  if (journal.dropped > 0) return { api, pastOperations, sandboxWords: undefined };
  const reader = world.read();
  const entries = journal.entries();
  const callers = entries.flatMap(({ principal }) => principal ?? []);
  const sentWebhooks = entries.flatMap(({ delivery }) => delivery?.webhook_id ?? []);
  return {
    api,
    pastOperations,
    rulePaths: faults.rules.paths,
    sandboxWords: {
      users: new Set([...[...reader.all(users)].map(({ id }) => id), ...callers]),
      webhooks: new Set([...[...reader.all(webhooks)].map(({ webhook_id }) => webhook_id), ...sentWebhooks]),
      paths: new Set(entries.map(({ path }) => path)),
      methods: new Set(entries.map(({ method }) => method)),
      stages: new Set([...faults.rules.stages, ...entries.flatMap(({ stages = [] }) => stages)]),
    },
  };
}
