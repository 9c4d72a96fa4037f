import { useState } from "react";
import { Button } from "react-aria-components";
import { Link } from "wouter";
import type { ReceivedRequest, Receiver } from "../../../../types/control-api.ts";
import { toAddress, useSandboxName } from "../../address.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import { Confirm } from "../../components/dialog.tsx";
import { Form } from "../../components/form.tsx";
import { DetailPane, Section } from "../../components/layout.tsx";
import { Badge, type Outcome } from "../../components/mark.tsx";
import { LoadError, Notice } from "../../components/notice.tsx";
import { CopyButton, PathText } from "../../components/text.tsx";
import { absolute, relative, useSandboxNow } from "../../components/time.tsx";
import { AnswersField, answersText, parseAnswers } from "./answers.tsx";
import { SENT_MS } from "./use-webhooks.ts";

const VERDICTS: Readonly<Record<ReceivedRequest["verdict"], Outcome>> = {
  valid: "ok",
  invalid: "failed",
  missing: "refused",
};
const MAX_SHOWN = 100;

/** One receiver: responses, received requests, signature checks. */
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
          <CopyButton text={url} label="Copy URL" />
          <Link
            className="button"
            href={toAddress(sandbox, "webhooks", { show: "webhooks", register: "new", to: url })}
          >
            Register webhook
          </Link>
          <Button className="button danger" onPress={() => setClosing(true)}>
            Delete …
          </Button>
        </>
      }
    >
      <pre className="wire">
        <PathText>{url}</PathText>
      </pre>
      <p className="quiet small">
        {has_secret
          ? "Verifies signatures with its own secret."
          : "Verifies signatures with the secret of the webhook that sends."}
      </p>
      <ReceiverAnswers receiver={receiver} />
      <Received id={id} />
      {closing && (
        <Confirm
          title="Delete this receiver?"
          verb="Delete"
          pending={shut.isPending}
          error={shut.error}
          onConfirm={() => shut.mutate(undefined)}
          onClose={() => setClosing(false)}
        >
          <p>Its received requests are deleted, and new requests to its URL return 404.</p>
        </Confirm>
      )}
    </DetailPane>
  );
}

function ReceiverAnswers({ receiver: { id, answers } }: { receiver: Receiver }) {
  const [typed, setTyped] = useState<string>();
  const text = typed ?? answersText(answers);
  const change = useSandboxChange(async (calls, _: undefined) =>
    calls.changeReceiver(id, { answers: parseAnswers(text) }),
  );
  return (
    <Section title="Configuration">
      <Form
        submit="Save responses"
        pending={change.isPending}
        error={change.error}
        onSubmit={() => change.mutate(undefined, { onSuccess: () => setTyped(undefined) })}
      >
        <AnswersField value={text} onChange={setTyped} />
      </Form>
      {change.isSuccess && typed === undefined && (
        <Notice outcome="ok">Saved. The next request gets the first response.</Notice>
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
      <LoadError error={error} />
      {data?.total === 0 && <p className="quiet">No requests yet.</p>}
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
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards can scroll a long body */}
              <pre className="wire body" tabIndex={0}>
                {request.body}
              </pre>
            </details>
          </li>
        ))}
      </ul>
      {data && data.total > MAX_SHOWN && (
        <p className="quiet small">Only the newest {MAX_SHOWN} are shown.</p>
      )}
    </Section>
  );
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
