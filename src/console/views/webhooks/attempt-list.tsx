import type { JournalEntry } from "../../api/types.ts";
import { useSandboxNow } from "../../live/sandbox-now.ts";
import { Exchange } from "../../parts/exchange.tsx";
import { Badge, Mark, type Outcome } from "../../parts/mark.tsx";
import { ReadProblem } from "../../parts/notice.tsx";
import { absolute, relative } from "../../parts/time.tsx";
import type { AttemptMark, AttemptState, Delivery } from "./attempts.ts";
import { useSignature } from "./signature.ts";
import { useDelivery } from "./use-webhooks.ts";

const OUTCOMES: Readonly<Record<AttemptState, Outcome>> = {
  delivered: "ok",
  failed: "failed",
  due: "waiting",
  expected: "other",
  cancelled: "off",
};
const KINDS = { first: "first", retry: "retry", redelivery: "redelivery" } as const;

/** Each attempt in words; one that was made opens and shows what went over the wire. */
export function AttemptList({
  delivery,
  marks,
  secret,
}: {
  delivery: Delivery;
  marks: readonly AttemptMark[];
  /** Of the webhook, while there is one. */
  secret: string | undefined;
}) {
  const { data, error } = useDelivery(delivery.delivery_id);
  // Those that a fixture brought along are counted and not logged.
  const unlogged = delivery.attempts - delivery.attempt_log.length;
  const exchanges = new Map(data?.exchanges.map((entry) => [entry.delivery!.attempt, entry]));
  return (
    <>
      <ReadProblem error={error} />
      <ol className="attempt-list" aria-label="Attempts">
        {marks.map((mark, index) => {
          const line = <AttemptLine mark={mark} />;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: two attempts may begin at one instant
            <li key={index}>
              {mark.made ? (
                <details>
                  <summary className="attempt-line">{line}</summary>
                  <OverTheWire
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
      <span className="attempt-words">{attemptWords(mark)}</span>
      <time className="quiet" dateTime={at} title={absolute(at)}>
        {relative(mark.at, now)}
      </time>
    </>
  );
}

/** What came of one that was made; what one that was not waits for. */
function attemptWords({ state, made }: AttemptMark): string {
  if (made) {
    const answer = made.error ?? `answered ${made.response_code}`;
    const fault = made.fault === undefined ? "" : `, by the fault ${made.fault}`;
    return `${KINDS[made.kind]}: ${answer} in ${made.duration_ms} ms${fault}`;
  }
  if (state === "due") return "the retry that comes next";
  if (state === "expected") return "if the one before fails too";
  if (state === "cancelled") return "called off: the webhook was gone or inactive";
  return "told by the fixture, without details";
}

/** What an attempt sent and what came back, and whether its signature is that of the present secret. */
function OverTheWire({
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
      <p className="quiet">{isKnown ? "The journal let go of what went over the wire." : "Loading …"}</p>
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
            ? "The signature that it sent is the one that is computed below."
            : "The signature that it sent is not the one that is computed below: the secret was changed since."}
        </p>
      )}
      <Exchange entry={entry} line={`POST ${entry.delivery!.url}`} isOpen sent={body} />
    </div>
  );
}
