import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Button } from "react-aria-components";
import type {
  CheckReport,
  ReceiverReport,
  ReceiverTestEvent,
  ReceiverTestOptions,
} from "../../../../types/control-api.ts";
import { useSandboxName } from "../../address.ts";
import { sandboxCalls } from "../../api/calls.ts";
import { ControlError } from "../../api/fetch-control.ts";
import { ChoiceField, Field, Form } from "../../components/form.tsx";
import { Badge, type Outcome } from "../../components/mark.tsx";
import { Notice } from "../../components/notice.tsx";
import { CopyButton, pluralize, saveFile } from "../../components/text.tsx";
import { useWebhooks } from "./use-webhooks.ts";

const OTHER = "";

/** Runs `understudy receiver-test` on a receiver. */
export function ReceiverTest() {
  const webhooks = useWebhooks();
  const [chosen, setChosen] = useState(OTHER);
  const [url, setUrl] = useState("");
  const [secret, setSecret] = useState("");
  const [probe, setProbe] = useState("");
  const { run, stop, progress, report, error, isPending } = useReceiverTest();
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
        Sends valid, forged, malformed and repeated deliveries to a receiver and checks its responses against
        the spec (section 6). Takes about a minute. Do not run against production.
      </p>
      <Form
        submit="Run test"
        pending={isPending}
        error={error}
        onSubmit={() =>
          run({ url: url.trim(), secret: secret.trim(), ...(probe.trim() && { probe: probe.trim() }) })
        }
      >
        <div className="trigger-pair">
          <ChoiceField
            label="Webhook"
            name=""
            value={chosen}
            onChange={choose}
            choices={[
              { id: OTHER, title: "None, enter a URL" },
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
            hint="A URL that returns the processed deliveries: their number or ids. Optional; without it, side effects are not checked."
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
        for await (const event of sandboxCalls(sandbox).testReceiver(options, signal)) {
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
  return {
    run: run.mutate,
    stop: () => stopping.current.abort(),
    progress,
    report: run.data,
    error: run.error,
    isPending: run.isPending,
  };
}

/** Failures first, passed checks last. */
const ORDER: readonly CheckReport["outcome"][] = ["error", "failed", "not-observable", "passed"];
const OUTCOMES: Readonly<Record<CheckReport["outcome"], Outcome>> = {
  error: "failed",
  failed: "failed",
  "not-observable": "waiting",
  passed: "ok",
};
const WORST: readonly CheckReport["severity"][] = ["critical", "major", "minor"];

export function TestReport({ report }: { report: ReceiverReport }) {
  const { verdict, summary, stopped, checks, unseen } = report;
  const ordered = checks.toSorted(
    (a, b) =>
      ORDER.indexOf(a.outcome) - ORDER.indexOf(b.outcome) ||
      WORST.indexOf(a.severity) - WORST.indexOf(b.severity),
  );
  return (
    <section className="test-report" aria-label="Report">
      <Notice
        outcome={verdict === "pass" ? "ok" : "failed"}
        action={
          <Button
            className="button"
            onPress={() => saveFile("receiver-test.json", JSON.stringify(report, null, 2))}
          >
            Download JSON
          </Button>
        }
      >
        <strong>{verdict === "pass" ? "Pass" : "Fail"}.</strong> {summary.passed} of{" "}
        {pluralize(summary.total, "check")} passed, {summary.failed} failed, {summary.not_observable} not
        observable, {summary.error} errors, in {(report.duration_ms / 1000).toFixed(1)} s. {stopped}
      </Notice>
      <ul className="checks" aria-label="Checks">
        {ordered.map((check) => (
          <Check key={check.id} check={check} />
        ))}
      </ul>
      <details className="graded">
        <summary>Checks to make by hand</summary>
        <ul className="unseen-list">
          {unseen.map(({ what, how }) => (
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
  const { id, title, severity, outcome, why, detail, advice, note, curl } = check;
  const open = outcome === "failed" || outcome === "error";
  return (
    <li>
      <details className="graded" open={open}>
        <summary>
          <Badge outcome={OUTCOMES[outcome]}>{outcome.replace("-", " ")}</Badge>
          <span>{title}</span>
          <span className="quiet small">{severity}</span>
        </summary>
        <p>{detail}</p>
        <p className="quiet">{why}</p>
        {open && (
          <p>
            <strong>Fix:</strong> {advice}
          </p>
        )}
        {note && <p>{note}</p>}
        <div className="actions">
          <code className="quiet">{id}</code>
          {curl && <CopyButton text={curl} label="Copy as curl" />}
        </div>
      </details>
    </li>
  );
}
