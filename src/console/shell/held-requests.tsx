import { useEffect, useState } from "react";
import type { Held, ReleaseOptions } from "../../../types/control-api.ts";
import { requireJson } from "../api/form-fields.ts";
import { useSandboxChange } from "../api/queries.ts";
import { ActionButton, Dialog } from "../components/button.tsx";
import { Field, Form } from "../components/form.tsx";
import { focusViewIfLost } from "../components/layout.tsx";
import { Mark, Notice, Problem } from "../components/status.tsx";
import { formatRuleName, PathText } from "../components/text.tsx";
import { useWallClock } from "../components/time.tsx";
import { useLive } from "../live/use-live.tsx";

/** Requests and deliveries that rules hold (interfaces.md 20), above the status line of every view. */
export function HeldRequests() {
  const held = useLive(({ held }) => held);
  const [answered, setAnswered] = useState<Held>();
  return (
    <>
      {held.length > 0 && (
        <section className="held-requests" aria-label="Held requests">
          {held.map((one) => (
            <HeldLine key={one.id} held={one} onAnswer={() => setAnswered(one)} />
          ))}
        </section>
      )}
      {answered && (
        <AnswerDialog
          held={answered}
          isHeld={held.some(({ id }) => id === answered.id)}
          onClose={() => setAnswered(undefined)}
        />
      )}
    </>
  );
}

/** `readOptions` may throw an input error, which the form shows. */
function useRelease(held: Held) {
  return useSandboxChange(
    async (calls, readOptions: () => ReleaseOptions) => {
      const options = readOptions();
      await calls.release(held.id, options);
      return options;
    },
    {
      confirmation: ({ answer, wire }) => {
        const heldName = formatHeldName(held);
        if (wire !== undefined) return `Dropped ${heldName}.`;
        return answer === undefined
          ? `Continued ${heldName}.`
          : `Answered ${heldName} with ${answer.status ?? 200}.`;
      },
    },
  );
}

/** Calls that overtake each other often differ only in the beginning of their query. */
const SHOWN_QUERY_LENGTH = 80;

function formatHeldName({ event, method, path, request: { query } }: Held): string {
  if (event !== null) return `the delivery of ${event}`;
  const shownQuery = query.length > SHOWN_QUERY_LENGTH ? `${query.slice(0, SHOWN_QUERY_LENGTH)}…` : query;
  return `${method} ${path}${query && `?${shownQuery}`}`;
}

function HeldLine({ held, onAnswer }: { held: Held; onAnswer: () => void }) {
  const release = useRelease(held);
  useEffect(() => focusViewIfLost, []);
  // The live stream removes the line a moment later; until then a click would be lost.
  if (release.isSuccess) return null;
  const { event, rule, principal, ends_at } = held;
  const heldName = formatHeldName(held);
  const answerRecipient = event === null ? "client" : "sender";
  const makeButton = (label: string, tooltip: string, options: ReleaseOptions) => (
    <span title={tooltip}>
      <ActionButton
        label={label}
        name={`${label}: ${heldName}`}
        isPending={release.isPending}
        onPress={() => release.mutate(() => options)}
      />
    </span>
  );
  return (
    <div className="held-request">
      <Mark outcome="waiting" word="held" />
      <span className="grow">
        {event === null ? <PathText>{heldName}</PathText> : heldName}
        <span className="quiet small">
          {" "}
          {principal && `by ${principal}, `}
          {describeProgress(held)}; held by {formatRuleName(rule)}, continues in <TimeLeft until={ends_at} />
        </span>
        <Problem error={release.error} />
      </span>
      <div className="actions">
        {makeButton("Continue", "Continues as if it had not been held", {})}
        {makeButton("Answer 503", `Gives the ${answerRecipient} the status 503`, { answer: { status: 503 } })}
        {makeButton("Drop", `Closes the ${answerRecipient}’s connection without an answer`, {
          wire: "reset",
        })}
        <span title={`Gives the ${answerRecipient} an answer that you write`}>
          <ActionButton label="Answer …" name={`Answer …: ${heldName}`} onPress={onAnswer} />
        </span>
      </div>
    </div>
  );
}

/** A delivery always follows its change; for a request, the phase says whether the change is made. */
function describeProgress({ event, phase }: Held): string {
  if (event !== null) return "not sent yet";
  return phase === "after" ? "its change is done" : "nothing has changed yet";
}

/** Until the timeout, which runs on the wall clock. */
function TimeLeft({ until }: { until: string }) {
  const now = useWallClock();
  const seconds = Math.max(0, Math.ceil((Date.parse(until) - now) / 1000));
  return <>{seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`}</>;
}

/** Stays open with what the user typed when the request is no longer held. */
function AnswerDialog({ held, isHeld, onClose }: { held: Held; isHeld: boolean; onClose: () => void }) {
  const release = useRelease(held);
  const [text, setText] = useState(() => JSON.stringify(getInitialAnswer(held), null, 2));
  // When the dialog closes, since its button may be gone; until then, nothing else can have the focus.
  useEffect(() => (isHeld ? undefined : () => void setTimeout(focusViewIfLost)), [isHeld]);
  const readOptions = () => ({ answer: requireJson(text, "answer", "The answer") }) as ReleaseOptions;
  const mutate = () => release.mutate(readOptions, { onSuccess: onClose });
  return (
    <Dialog title={`Answer ${formatHeldName(held)}`} onClose={onClose}>
      <Form submit="Answer" change={{ ...release, mutate }} onCancel={onClose}>
        {!isHeld && release.isIdle && (
          <Notice outcome="refused">
            Too late: it is no longer held. Its time was over, or it was released elsewhere. Copy your answer
            for the next one, or put it into a rule.
          </Notice>
        )}
        <Field
          label="Answer"
          name="answer"
          value={text}
          onChange={setText}
          lines={14}
          autoFocus
          hint="JSON with status, headers and body. For a delivery, only a status, as if the receiver had sent it."
        />
      </Form>
    </Dialog>
  );
}

/** The answer that waits, perhaps without a body; before there is one, a 200 with an empty object. */
function getInitialAnswer({ response, event }: Held): NonNullable<ReleaseOptions["answer"]> {
  if (event !== null) return { status: 200 };
  return response === null ? { status: 200, body: {} } : { status: response.status, body: response.body };
}
