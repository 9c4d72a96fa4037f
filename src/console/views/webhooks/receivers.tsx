import { useCallback, useState } from "react";
import { Button } from "react-aria-components";
import type { Receiver } from "../../../../types/control-api.ts";
import { useParameters } from "../../address.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import { Field, Form } from "../../components/form.tsx";
import { DetailPane } from "../../components/layout.tsx";
import { EmptyState, LoadError, NotFound } from "../../components/notice.tsx";
import { type Column, VirtualTable } from "../../components/virtual-table.tsx";
import { AnswersField, answersText, parseAnswers } from "./answers.tsx";
import { ReceiverPane } from "./receiver-pane.tsx";
import { SENT_MS } from "./use-webhooks.ts";

const COLUMNS: readonly Column<Receiver>[] = [
  { id: "url", title: "URL", value: ({ url }) => url, width: "minmax(0, 2fr)" },
  {
    id: "answers",
    title: "Responses",
    value: ({ answers }) => answersText(answers),
    width: "minmax(0, 1fr)",
  },
  { id: "served", title: "Requests", value: ({ served }) => served, width: "5.5rem", number: true },
];
const getKey = ({ id }: Receiver) => id;

/** Webhook endpoints inside the server, with configured responses; they verify signatures. */
export function Receivers() {
  const { get, set } = useParameters();
  const { data, error } = useSandboxQuery(["receivers"], (calls) => calls.receivers(), { everyMs: SENT_MS });
  const chosen = data?.items.find(({ id }) => id === get("receiver"));
  const opening = get("open") !== undefined;
  const close = useCallback(() => set({ receiver: undefined, open: undefined }), [set]);
  return (
    <div className="split">
      <div className="page">
        <div className="webhooks-tools">
          <span className="quiet">
            Test endpoints inside this server. They verify signatures and respond as you configure.
          </span>
          <Button className="button primary" onPress={() => set({ open: "new", receiver: undefined })}>
            Create receiver
          </Button>
        </div>
        <LoadError error={error} />
        {get("receiver") !== undefined && data && !chosen && (
          <NotFound kind="receiver" id={get("receiver")} />
        )}
        <VirtualTable
          label="Receivers"
          columns={COLUMNS}
          rows={data?.items}
          getKey={getKey}
          selected={chosen?.id}
          onSelect={({ id }) => set({ receiver: id, open: undefined })}
          empty={
            <EmptyState title="No receivers">
              {" "}
              Create one, register a webhook for it and trigger an event to see a delivery.{" "}
            </EmptyState>
          }
        />
      </div>
      {opening && <CreateReceiver onClose={close} />}
      {!opening && chosen && <ReceiverPane key={chosen.id} receiver={chosen} onClose={close} />}
    </div>
  );
}

export function CreateReceiver({ onClose }: { onClose: () => void }) {
  const { set } = useParameters();
  const [answers, setAnswers] = useState("200");
  const [secret, setSecret] = useState("");
  const open = useSandboxChange(async (calls, _: undefined) =>
    calls.openReceiver({ answers: parseAnswers(answers), ...(secret.trim() && { secret: secret.trim() }) }),
  );
  return (
    <DetailPane title="Create receiver" label="Create receiver" onClose={onClose}>
      <Form
        submit="Create"
        pending={open.isPending}
        error={open.error}
        onSubmit={() =>
          open.mutate(undefined, { onSuccess: ({ id }) => set({ receiver: id, open: undefined }) })
        }
      >
        <AnswersField value={answers} onChange={setAnswers} />
        <Field
          label="Secret"
          name="secret"
          value={secret}
          onChange={setSecret}
          placeholder="whsec_…"
          hint="For verifying signatures. Leave empty to use the secret of the webhook that sends."
        />
      </Form>
    </DetailPane>
  );
}
