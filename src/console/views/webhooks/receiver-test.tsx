import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Button } from "react-aria-components";
import { useSandboxName } from "../../address.ts";
import { sandboxCalls } from "../../api/calls.ts";
import { ControlError } from "../../api/fetch-control.ts";
import type { ReceiverReport, ReceiverTestEvent, ReceiverTestOptions } from "../../api/types.ts";
import { ChoiceField, Field, Form } from "../../parts/form.tsx";
import { Notice } from "../../parts/notice.tsx";
import { TestReport } from "./test-report.tsx";
import { useWebhooks } from "./use-webhooks.ts";

const OTHER = "";

/** Grades a partner's receiver from here, as `understudy receiver-test` does from a terminal. */
export function ReceiverTest() {
  const webhooks = useWebhooks();
  const [chosen, setChosen] = useState(OTHER);
  const [url, setUrl] = useState("");
  const [secret, setSecret] = useState("");
  const [probe, setProbe] = useState("");
  const { run, stop, progress, report, error, isPending } = useGrading();
  const choose = (id: string) => {
    setChosen(id);
    const webhook = webhooks.data?.items.find(({ webhook_id }) => webhook_id === id);
    if (webhook === undefined) return;
    setUrl(webhook.url);
    setSecret(webhook.secret);
  };
  return (
    <div className="page receiver-test">
      <p className="quiet">
        Signed, forged, odd and repeated deliveries go from this server to the receiver, and its answers are
        judged by section 6. It takes about a minute; it sends what a partner’s test system should bear, and
        no production one.
      </p>
      <Form
        submit="Test it"
        pending={isPending}
        error={error}
        onSubmit={() =>
          run({ url: url.trim(), secret: secret.trim(), ...(probe.trim() && { probe: probe.trim() }) })
        }
      >
        <div className="trigger-pair">
          <ChoiceField
            label="The receiver of"
            name=""
            value={chosen}
            onChange={choose}
            choices={[
              { id: OTHER, title: "None of the webhooks" },
              ...(webhooks.data?.items ?? []).map(({ webhook_id, url }) => ({
                id: webhook_id,
                title: url,
                detail: webhook_id,
              })),
            ]}
          />
          <Field
            label="URL"
            name="url"
            value={url}
            onChange={setUrl}
            placeholder="http://127.0.0.1:3000/webhook"
            required
          />
          <Field
            label="Secret"
            name="secret"
            value={secret}
            onChange={setSecret}
            placeholder="whsec_…"
            type="password"
            required
          />
          <Field
            label="Probe"
            name="probe"
            value={probe}
            onChange={setProbe}
            placeholder="http://127.0.0.1:3000/processed"
            hint="Answers how many deliveries were processed, or their ids; without it side effects go unseen."
          />
        </div>
      </Form>
      {isPending && (
        <Notice
          outcome="waiting"
          action={
            <Button className="button" onPress={stop}>
              Stop
            </Button>
          }
        >
          {progress ? `${progress.index} of ${progress.total}: ${progress.title}` : "Connecting …"}
        </Notice>
      )}
      {report && !isPending && <TestReport report={report} />}
    </div>
  );
}

/** One grading at a time; leaving the page ends it. */
function useGrading() {
  const sandbox = useSandboxName();
  const [progress, setProgress] = useState<ReceiverTestEvent["progress"]>();
  const stopping = useRef(new AbortController());
  useEffect(() => () => stopping.current.abort(), []);
  const grading = useMutation<ReceiverReport | undefined, ControlError, ReceiverTestOptions>({
    mutationFn: async (options) => {
      stopping.current = new AbortController();
      const { signal } = stopping.current;
      setProgress(undefined);
      try {
        for await (const event of sandboxCalls(sandbox).testReceiver(options, signal)) {
          if (event.report) return event.report;
          setProgress(event.progress);
        }
      } catch (error) {
        if (signal.aborted) return undefined;
        throw error;
      }
      throw new ControlError(0, "The server ended the test without a report.");
    },
  });
  return {
    run: grading.mutate,
    stop: () => stopping.current.abort(),
    progress,
    report: grading.data,
    error: grading.error,
    isPending: grading.isPending,
  };
}
