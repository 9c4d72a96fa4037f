import type { JournalEntry } from "../../../../types/control-api.ts";
import { Exchange } from "../../components/exchange.tsx";
import { Badge, Mark, type Outcome } from "../../components/mark.tsx";
import { LoadError } from "../../components/notice.tsx";
import { absolute, relative, useSandboxNow } from "../../components/time.tsx";
import type { AttemptMark, AttemptState, Delivery } from "./attempts.ts";
import { useDelivery, useSignature } from "./use-webhooks.ts";

const OUTCOMES: Readonly<Record<AttemptState, Outcome>> = {
  delivered: "ok",
  failed: "failed",
  due: "waiting",
  expected: "other",
  cancelled: "off",
};
const KINDS = { first: "first", retry: "retry", redelivery: "redelivery" } as const;

/** Attempts of a delivery; those that were made expand to their request and response. */
export function AttemptList({
  delivery,
  marks,
  secret,
}: {
  delivery: Delivery;
  marks: readonly AttemptMark[];
  /** Undefined if the webhook was deleted. */
  secret: string | undefined;
}) {
  const { data, error } = useDelivery(delivery.delivery_id);
  // Attempts from a fixture are counted, but not logged.
  const unlogged = delivery.attempts - delivery.attempt_log.length;
  const exchanges = new Map(data?.exchanges.map((entry) => [entry.delivery!.attempt, entry]));
  return (
    <>
      <LoadError error={error} />
      <ol className="attempt-list" aria-label="Attempts">
        {marks.map((mark, index) => {
          const line = <AttemptLine mark={mark} />;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: two attempts may start at the same time
            <li key={index}>
              {mark.made ? (
                <details>
                  <summary className="attempt-line">{line}</summary>
                  <AttemptExchange
                    entry={exchanges.get(unlogged + delivery.attempt_log.indexOf(mark.made) + 1)}
                    isKnown={data !== undefined}
                    secret={secret}
                    body={delivery.body}
                  />
                </details>
              ) : (
                <div className="attempt-line">{line}</div>
              )}
            </li>
          );
        })}
      </ol>
    </>
  );
}

function AttemptLine({ mark }: { mark: AttemptMark }) {
  const now = useSandboxNow();
  const at = new Date(mark.at).toISOString();
  return (
    <>
      <Badge outcome={OUTCOMES[mark.state]}>{mark.state}</Badge>
      <span className="attempt-words">{describeAttempt(mark)}</span>
      <time className="quiet" dateTime={at} title={absolute(at)}>
        {relative(mark.at, now)}
      </time>
    </>
  );
}

/** The result of an attempt that was made, or why it is not made yet. */
function describeAttempt({ state, made }: AttemptMark): string {
  if (made) {
    const answer = made.error ?? `returned ${made.response_code}`;
    const fault = made.fault === undefined ? "" : `, fault ${made.fault}`;
    return `${KINDS[made.kind]}: ${answer} in ${made.duration_ms} ms${fault}`;
  }
  if (state === "due") return "next retry";
  if (state === "expected") return "if the previous attempt fails";
  if (state === "cancelled") return "the webhook was deleted or inactive";
  return "from the fixture, no details";
}

/** Request and response of an attempt, and whether its signature matches the current secret. */
function AttemptExchange({
  entry,
  isKnown,
  secret,
  body,
}: {
  entry: JournalEntry | undefined;
  isKnown: boolean;
  secret: string | undefined;
  body: string;
}) {
  const computed = useSignature(secret, body);
  if (entry === undefined) {
    return (
      <p className="quiet">
        {isKnown ? "The request and response have expired from the journal." : "Loading …"}
      </p>
    );
  }
  const sent = entry.request.headers.find(({ name }) => /-signature$/i.test(name))?.value;
  const isSame = sent === computed;
  return (
    <div className="over-the-wire">
      {entry.reasons.map((reason) => (
        <p key={reason}>{reason}.</p>
      ))}
      {sent && computed && (
        <p>
          <Mark outcome={isSame ? "ok" : "refused"} word={null} />{" "}
          {isSame
            ? "The sent signature matches the one computed below."
            : "The sent signature differs from the one computed below: the secret has changed since."}
        </p>
      )}
      <Exchange entry={entry} line={`POST ${entry.delivery!.url}`} isOpen sent={body} />
    </div>
  );
}
