import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type {
  CheckReport,
  ReceiverReport,
  ReceiverTestEvent,
  ReceiverTestOptions,
} from "../../../../types/control-api.ts";
import { sortWorstFirst } from "../../../tools/checks/run-checks.ts";
import { useSandboxName } from "../../address.ts";
import { createSandboxCalls } from "../../api/calls.ts";
import { ControlError } from "../../api/fetch-control.ts";
import { omitEmptyInputs, toNumberOrText } from "../../api/form-fields.ts";
import { ActionButton } from "../../components/button.tsx";
import { ChoiceField, Field, Form, useInputs } from "../../components/form.tsx";
import { GradedCheck } from "../../components/graded-check.tsx";
import { revealElement } from "../../components/layout.tsx";
import { Notice } from "../../components/status.tsx";
import { CopyButton, downloadJson, pluralize } from "../../components/text.tsx";
import { useWebhookChoices, useWebhooks } from "./use-webhooks.ts";

const NO_WEBHOOK = "";

/** Runs `understudy receiver-test` on a receiver. */
export function ReceiverTest() {
  const { webhooks } = useWebhooks();
  const { inputs, field, changeInputs } = useInputs({
    webhook: NO_WEBHOOK,
    url: "",
    secret: "",
    probe: "",
    patience: "",
    user: "",
  });
  const { run, stop, progress } = useReceiverTest();
  const choose = (id: string) => {
    const { url, secret } = webhooks?.find(({ webhook_id }) => webhook_id === id) ?? { url: "", secret: "" };
    changeInputs({ webhook: id, url, secret });
  };
  const mutate = () => {
    const { url = "", secret = "", probe, patience, user } = omitEmptyInputs(inputs);
    run.mutate({
      url,
      secret,
      ...(probe && { probe }),
      ...(patience && { patience_seconds: toNumberOrText(patience) }),
      ...(user && { data: { user_id: user } }),
    });
  };
  return (
    <div className="page stack grow measure">
      <p className="quiet">
        Sends valid, forged, malformed and repeated deliveries to a receiver and checks that its responses
        follow the service’s rules for webhooks. Takes up to a minute. Do not run against production.
      </p>
      <Form submit="Run test" change={{ ...run, mutate }}>
        <div className="field-grid">
          <ChoiceField
            label="Webhook"
            name=""
            value={inputs.webhook}
            onChange={choose}
            choices={useWebhookChoices({ id: NO_WEBHOOK, title: "None, enter a URL" })}
          />
          <Field label="URL" {...field("url")} placeholder="http://127.0.0.1:3000/webhook" required />
          <Field
            label="Secret"
            {...field("secret")}
            placeholder="whsec_…"
            type="password"
            required
            hint="The webhook’s secret, with which the deliveries are signed."
          />
          <Field
            label="Probe"
            {...field("probe")}
            placeholder="http://127.0.0.1:3000/processed"
            hint="A URL where your receiver reports the deliveries that it has processed, as a number or ids. Without it, side effects are not checked."
          />
          <Field
            label="Wait"
            {...field("patience")}
            placeholder="3"
            hint="Seconds that the receiver may take to process an event after it has responded."
          />
          <Field
            label="User"
            {...field("user")}
            placeholder="usr_…"
            hint="Sent as data.user_id, for a receiver that looks up the user of an event."
          />
        </div>
      </Form>
      {run.isPending && (
        <div ref={revealElement}>
          <Notice outcome="waiting" action={<ActionButton label="Stop" onPress={stop} />}>
            {progress ? `${progress.index} of ${progress.total}: ${progress.title}` : "Connecting …"}
          </Notice>
        </div>
      )}
      {run.data && !run.isPending && <TestReport report={run.data} />}
    </div>
  );
}

/** One test at a time; leaving the page stops it. */
function useReceiverTest() {
  const sandbox = useSandboxName();
  const [progress, setProgress] = useState<ReceiverTestEvent["progress"]>();
  const stopping = useRef(new AbortController());
  useEffect(() => () => stopping.current.abort(), []);
  const run = useMutation<ReceiverReport | undefined, ControlError, ReceiverTestOptions>({
    mutationFn: async (options) => {
      stopping.current = new AbortController();
      const { signal } = stopping.current;
      setProgress(undefined);
      try {
        for await (const event of createSandboxCalls(sandbox).testReceiver(options, signal)) {
          if (event.report) return event.report;
          setProgress(event.progress);
        }
      } catch (error) {
        if (signal.aborted) return undefined;
        throw error;
      }
      throw new ControlError(0, "The test ended without a report.");
    },
  });
  return { run, progress, stop: () => stopping.current.abort() };
}

const SEVERITY_ORDER: readonly CheckReport["severity"][] = ["critical", "major", "minor"];

function TestReport({ report }: { report: ReceiverReport }) {
  const { verdict, summary, stopped, checks, manual_checks } = report;
  const worstSeverityFirst = checks.toSorted(
    (a, b) => SEVERITY_ORDER.indexOf(a.severity) - SEVERITY_ORDER.indexOf(b.severity),
  );
  return (
    <section ref={revealElement} className="stack" aria-label="Report">
      <Notice
        outcome={verdict === "pass" ? "ok" : "failed"}
        action={
          <ActionButton label="Download JSON" onPress={() => downloadJson("receiver-test.json", report)} />
        }
      >
        <strong>{verdict === "pass" ? "Pass" : "Fail"}.</strong> {summary.passed} of{" "}
        {pluralize(summary.total, "check")} passed, {summary.failed} failed, {summary.not_observable} not
        observable, {pluralize(summary.error, "error")}, in {(report.duration_ms / 1000).toFixed(1)} s.{" "}
        {stopped}
      </Notice>
      <ul className="panel lines" aria-label="Checks">
        {sortWorstFirst(worstSeverityFirst).map((check) => (
          <Check key={check.id} check={check} />
        ))}
      </ul>
      <details className="graded">
        <summary>Checks to make by hand</summary>
        <ul>
          {manual_checks.map(({ what, how }) => (
            <li key={what}>
              <strong>{what}.</strong> {how}
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}

function Check({ check }: { check: CheckReport }) {
  const { why, detail, curl } = check;
  return (
    <GradedCheck check={check} actions={curl && <CopyButton text={curl} label="Copy as curl" />}>
      <p>{detail}</p>
      <p className="quiet">{why}</p>
    </GradedCheck>
  );
}
