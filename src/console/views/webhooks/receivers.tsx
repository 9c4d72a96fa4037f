import { useState } from "react";
import type { ReceivedRequest, Receiver, ReceiverOptions } from "../../../../types/control-api.ts";
import { capitalize } from "../../../engine/contract/text.ts";
import { useSelection } from "../../address.ts";
import { omitEmptyInputs, toInputError } from "../../api/form-fields.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import { ActionButton, ConfirmButton } from "../../components/button.tsx";
import { Message } from "../../components/exchange.tsx";
import { type Choice, ChoiceField, Field, Form, useInputs } from "../../components/form.tsx";
import { DetailPane, ListView, Section, ViewLink } from "../../components/layout.tsx";
import { Badge, EmptyState, LoadError, type Outcome } from "../../components/status.tsx";
import { ClippedPath, CopyButton, PathText } from "../../components/text.tsx";
import { RelativeTimeText } from "../../components/time.tsx";
import type { Column } from "../../components/virtual-table.tsx";

/** No stream reports requests to a receiver. */
const RECEIVED_POLL_MS = 2000;

const COLUMNS: readonly Column<Receiver>[] = [
  {
    id: "url",
    title: "URL",
    renderCell: ({ url }) => <ClippedPath>{url}</ClippedPath>,
    width: "minmax(0, 1.4fr)",
  },
  {
    id: "answers",
    title: "Responses",
    value: ({ answers }) => formatAnswers(answers),
  },
  { id: "served", title: "Answered", width: "5.5rem", isNumber: true },
];

/** Webhook endpoints inside the server, with configured responses; they verify signatures. */
export function Receivers() {
  const { selected, isCreating, select, create, close } = useSelection("receiver", "open");
  const { data, error } = useSandboxQuery(["receivers"], (calls) => calls.receivers(), {
    pollMs: RECEIVED_POLL_MS,
  });
  return (
    <ListView
      head={
        <div className="tools">
          <p className="quiet">
            Test endpoints inside this server. They respond as you configure, and show whether signatures are
            valid.
          </p>
          <ActionButton label="Create receiver" look="primary" onPress={create} />
        </div>
      }
      error={error}
      notFoundKind="receiver"
      label="Receivers"
      columns={COLUMNS}
      rows={data?.items}
      getKey={({ id }) => id}
      selected={selected}
      onSelect={({ id }) => select(id)}
      empty={
        <EmptyState title="No receivers">
          Create one, register a webhook for it and trigger an event to see a delivery.
        </EmptyState>
      }
      pane={(receiver) => <ReceiverPane receiver={receiver} onClose={close} />}
      otherPane={isCreating && <CreateReceiver onClose={close} onCreated={select} />}
    />
  );
}

function CreateReceiver(props: { onClose: () => void; onCreated: (id: string) => void }) {
  const { inputs, field, changeInputs } = useInputs({ answers: "200", secret: "" });
  const { answers, secret } = inputs;
  const open = useSandboxChange(
    async (calls) => calls.openReceiver({ answers: parseAnswers(answers), ...omitEmptyInputs({ secret }) }),
    { confirmation: ({ id }) => `Created receiver ${id}.`, undo: (calls, { id }) => calls.closeReceiver(id) },
  );
  return (
    <DetailPane title="Create receiver" label="Create receiver" onClose={props.onClose}>
      <Form submit="Create" change={open} onSuccess={({ id }) => props.onCreated(id)}>
        <AnswersField value={answers} onChange={(answers) => changeInputs({ answers })} />
        <Field
          label="Secret"
          {...field("secret")}
          placeholder="whsec_…"
          hint="For verifying signatures. Leave empty to use the secret of the webhook that sends."
        />
      </Form>
    </DetailPane>
  );
}

function ReceiverPane({ receiver, onClose }: { receiver: Receiver; onClose: () => void }) {
  const { id, url, has_secret } = receiver;
  const remove = useSandboxChange((calls) => calls.closeReceiver(id).then(onClose), {
    confirmation: `Deleted receiver ${id}.`,
  });
  return (
    <DetailPane
      title={<span className="mono">{id}</span>}
      label={`Receiver ${id}`}
      onClose={onClose}
      actions={
        <>
          <CopyButton text={url} label="Copy URL" />
          <ViewLink className="button" view="webhooks" query={{ show: "webhooks", register: "new", to: url }}>
            Register webhook
          </ViewLink>
          <ConfirmButton title="Delete this receiver?" verb="Delete" change={remove}>
            Its received requests are deleted, and new requests to its URL return 404.
          </ConfirmButton>
        </>
      }
    >
      <pre className="wire">
        <PathText>{url}</PathText>
      </pre>
      <p className="quiet small">
        {has_secret
          ? "Checks signatures with its own secret."
          : "Checks signatures with the secret of the webhook that sends."}
      </p>
      <ReceiverAnswers receiver={receiver} />
      <Received id={id} />
    </DetailPane>
  );
}

function ReceiverAnswers({ receiver: { id, answers } }: { receiver: Receiver }) {
  const [typed, setTyped] = useState<string>();
  const text = typed ?? formatAnswers(answers);
  const change = useSandboxChange(
    async (calls) => calls.changeReceiver(id, { answers: parseAnswers(text) }),
    {
      confirmation: "Saved. The next request gets the first of these responses.",
      undo: (calls) => calls.changeReceiver(id, { answers }),
    },
  );
  return (
    <Section title="Configuration">
      <Form submit="Save responses" change={change} onSuccess={() => setTyped(undefined)}>
        <AnswersField value={text} onChange={setTyped} />
      </Form>
    </Section>
  );
}

const CUSTOM_RESPONSES = "typed";
const USUAL_RESPONSES: readonly Choice[] = [
  { id: "200", title: "200, always" },
  { id: "500, 500, 200", title: "500 twice, then 200", detail: "retries that succeed" },
  { id: "500", title: "500, always", detail: "until retries are exhausted" },
  { id: "410", title: "410", detail: "deactivates the webhook" },
  { id: "200 after 5s", title: "200 after 5 s" },
  { id: "hang", title: "No response", detail: "hang" },
  { id: "reset", title: "Connection reset", detail: "reset" },
  { id: CUSTOM_RESPONSES, title: "Custom …" },
];

function AnswersField({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const [isCustom, setIsCustom] = useState(false);
  const isUsual = !isCustom && USUAL_RESPONSES.some(({ id }) => id === value && id !== CUSTOM_RESPONSES);
  return (
    <>
      <ChoiceField
        label="Responses"
        name={isUsual ? "answers" : ""}
        value={isUsual ? value : CUSTOM_RESPONSES}
        onChange={(id) => {
          setIsCustom(id === CUSTOM_RESPONSES);
          onChange(id === CUSTOM_RESPONSES ? "500, 200 after 1s" : id);
        }}
        choices={USUAL_RESPONSES}
        hint={isUsual && "The last response repeats."}
      />
      {!isUsual && (
        <Field
          label="Custom responses"
          name="answers"
          value={value}
          onChange={onChange}
          hint="Comma-separated: 500, 200 after 1s, hang, reset. The last one repeats."
          required
        />
      )}
    </>
  );
}

/** "500, 200 after 1s, hang". */
function formatAnswers(answers: Receiver["answers"]): string {
  return answers
    .map((answer) => {
      if (typeof answer !== "object") return String(answer);
      return answer.delay === undefined ? String(answer.status) : `${answer.status} after ${answer.delay}`;
    })
    .join(", ");
}

/** @throws ControlError for an invalid response */
function parseAnswers(text: string): NonNullable<ReceiverOptions["answers"]> {
  return text.split(",").map((part) => {
    const word = part.trim();
    if (/^\d{3}$/.test(word)) return Number(word);
    if (word === "hang" || word === "reset" || word === "forward") return word;
    const [, status, delay] = /^(\d{3}) after (\S+)$/.exec(word) ?? [];
    if (delay !== undefined) return { status: Number(status), delay: delay as never };
    throw toInputError(
      "answers",
      `“${word}” is not a valid response. Use a status (200), a status with a delay (200 after 1s), hang, reset or forward.`,
    );
  });
}

const VERDICTS: Readonly<Record<ReceivedRequest["verdict"], [Outcome, string]>> = {
  valid: ["ok", "valid"],
  invalid: ["failed", "invalid"],
  missing: ["refused", "unsigned"],
};
const MAX_SHOWN = 100;

function Received({ id }: { id: string }) {
  const { data, error } = useSandboxQuery(["received", id], (calls) => calls.received(id), {
    pollMs: RECEIVED_POLL_MS,
  });
  const newest = (data?.items ?? [])
    .map((request, number) => ({ request, number }))
    .slice(-MAX_SHOWN)
    .reverse();
  return (
    <Section title={data ? `${data.total} received` : "Received"}>
      <LoadError error={error} />
      {data?.total === 0 && <p className="quiet">No requests yet.</p>}
      <ul className="received lines" aria-label="Received">
        {newest.map(({ request, number }) => (
          <li key={number}>
            <details>
              <summary className="line">
                <Badge outcome={VERDICTS[request.verdict][0]}>{VERDICTS[request.verdict][1]}</Badge>
                <span className="clip">{String(request.headers["x-service-event"] ?? request.method)}</span>
                <span className="quiet">{request.answer}</span>
                <RelativeTimeText at={request.at} />
              </summary>
              <p>{capitalize(request.reason)}.</p>
              <Message
                title="Request"
                line={`${request.method} /${request.path}`}
                headers={Object.entries(request.headers).map(([name, value]) => ({
                  name,
                  value: `${value}`,
                }))}
                body={request.body}
                isOpen
              />
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
