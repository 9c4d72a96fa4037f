import { useState } from "react";
import { Button } from "react-aria-components";
import { Link } from "wouter";
import { addressOf, useSandboxName } from "../../address.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import type { ReceivedRequest, Receiver } from "../../api/types.ts";
import { useSandboxNow } from "../../live/sandbox-now.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { Form } from "../../parts/form.tsx";
import { Badge, type Outcome } from "../../parts/mark.tsx";
import { Notice, ReadProblem } from "../../parts/notice.tsx";
import { PathText } from "../../parts/path-text.tsx";
import { Section } from "../../parts/section.tsx";
import { absolute, relative } from "../../parts/time.tsx";
import { answersIn, answersText } from "./answers.ts";
import { AnswersField } from "./answers-field.tsx";
import { SENT_MS } from "./use-webhooks.ts";

const VERDICTS: Readonly<Record<ReceivedRequest["verdict"], Outcome>> = {
  valid: "ok",
  invalid: "failed",
  missing: "refused",
};
const MAX_SHOWN = 100;

/** One receiver: how it answers, what reached it, and its verdict on each signature. */
export function ReceiverPane({ receiver, onClose }: { receiver: Receiver; onClose: () => void }) {
  const { id, url, has_secret } = receiver;
  const sandbox = useSandboxName();
  const [closing, setClosing] = useState(false);
  const shut = useSandboxChange(async (calls, _: undefined) => {
    await calls.closeReceiver(id);
    onClose();
  });
  return (
    <DetailPane
      title={<span className="mono">{id}</span>}
      label={`Receiver ${id}`}
      onClose={onClose}
      actions={
        <>
          <CopyButton text={url} label="Copy the URL" />
          <Link
            className="button"
            href={addressOf(sandbox, "webhooks", { show: "webhooks", register: "new", to: url })}
          >
            Register a webhook for it
          </Link>
          <Button className="button danger" onPress={() => setClosing(true)}>
            Close …
          </Button>
        </>
      }
    >
      <pre className="wire">
        <PathText>{url}</PathText>
      </pre>
      <p className="quiet small">
        {has_secret
          ? "It verifies with a secret of its own."
          : "It verifies with the secret of the webhook that the payload names."}
      </p>
      <Answering receiver={receiver} />
      <Received id={id} />
      {closing && (
        <Confirm
          title="Close this receiver?"
          verb="Close it"
          pending={shut.isPending}
          error={shut.error}
          onConfirm={() => shut.mutate(undefined)}
          onClose={() => setClosing(false)}
        >
          <p>What is sent to it from then on is answered 404, and what reached it is forgotten.</p>
        </Confirm>
      )}
    </DetailPane>
  );
}

function Answering({ receiver: { id, answers, served } }: { receiver: Receiver }) {
  const [typed, setTyped] = useState<string>();
  const text = typed ?? answersText(answers);
  const change = useSandboxChange(async (calls, _: undefined) =>
    calls.changeReceiver(id, { answers: answersIn(text) }),
  );
  return (
    <Section title={`Answered ${served} with these`}>
      <Form
        submit="Answer so from now on"
        pending={change.isPending}
        error={change.error}
        onSubmit={() => change.mutate(undefined, { onSuccess: () => setTyped(undefined) })}
      >
        <AnswersField value={text} onChange={setTyped} />
      </Form>
      {change.isSuccess && typed === undefined && (
        <Notice outcome="ok">It begins with the first of them.</Notice>
      )}
    </Section>
  );
}

function Received({ id }: { id: string }) {
  const now = useSandboxNow();
  const { data, error } = useSandboxQuery(["received", id], (calls) => calls.received(id), {
    everyMs: SENT_MS,
  });
  const newest = (data?.items ?? [])
    .map((request, number) => ({ request, number }))
    .slice(-MAX_SHOWN)
    .reverse();
  return (
    <Section title={data ? `${data.total} received` : "Received"}>
      <ReadProblem error={error} />
      {data?.total === 0 && <p className="quiet">Nothing was sent to it yet.</p>}
      <ul className="received" aria-label="Received">
        {newest.map(({ request, number }) => (
          <li key={number}>
            <details>
              <summary>
                <Badge outcome={VERDICTS[request.verdict]}>{request.verdict}</Badge>
                <span className="clip">{String(request.headers["x-service-event"] ?? request.method)}</span>
                <span className="quiet">{request.answer}</span>
                <time className="quiet" dateTime={request.at} title={absolute(request.at)}>
                  {relative(Date.parse(request.at), now)}
                </time>
              </summary>
              <p>{capital(request.reason)}.</p>
              <pre className="wire">
                {`${request.method} /${request.path}\n`}
                {Object.entries(request.headers)
                  .map(([name, value]) => `${name}: ${value}`)
                  .join("\n")}
              </pre>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long bodies are scrolled by the keyboard, too */}
              <pre className="wire body" tabIndex={0}>
                {request.body}
              </pre>
            </details>
          </li>
        ))}
      </ul>
      {data && data.total > MAX_SHOWN && <p className="quiet small">The newest {MAX_SHOWN} are shown.</p>}
    </Section>
  );
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
