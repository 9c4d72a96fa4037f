import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { CLIENT_CHECKS } from "../../../tools/client-test/checks/index.ts";
import type { GradedSandbox } from "../../../tools/client-test/client-check.ts";
import type { ClientCheckReport, ClientReport } from "../../../tools/client-test/client-report-types.ts";
import { describeReport, RULE_PREFIX, SNAPSHOT_NAME } from "../../../tools/client-test/grade-client.ts";
import { ManualClientTest, type ManualStatus } from "../../../tools/client-test/manual-test.ts";
import { useSandboxName } from "../../address.ts";
import { createSandboxCalls } from "../../api/calls.ts";
import { useSandbox, useSandboxChange, useSandboxQuery, useSnapshots } from "../../api/queries.ts";
import { ActionButton } from "../../components/button.tsx";
import { ChoiceField } from "../../components/form.tsx";
import { GradedCheck } from "../../components/graded-check.tsx";
import { ViewLink } from "../../components/layout.tsx";
import { Notice, Problem } from "../../components/status.tsx";
import { CopyButton, downloadJson } from "../../components/text.tsx";

/** The tests of this page, by sandbox: they go on while other views are open. */
const TESTS = new Map<string, ManualClientTest>();
const ALL_CHECKS = "";
const POLL_MS = 1000;

/** Grades the application that the user operates by hand, as `understudy client-test` does with a command. */
export default function ClientTest() {
  const name = useSandboxName();
  const { data: status, refetch } = useSandboxQuery(
    ["client-test"],
    async () => (await TESTS.get(name)?.status()) ?? null,
    { live: false, pollMs: POLL_MS },
  );
  // Changes the test, then waits for its next run or its report.
  const step = useMutation({
    mutationFn: async (change: () => void) => {
      change();
      try {
        await TESTS.get(name)?.waitForRun();
      } catch (error) {
        TESTS.delete(name);
        throw error;
      }
    },
    onSettled: () => refetch(),
  });
  const start = (check: string) =>
    step.mutate(() => {
      const only = check === ALL_CHECKS ? undefined : [check];
      TESTS.set(name, new ManualClientTest(toGradedSandbox(name), { only }));
    });
  const test = TESTS.get(name);
  const isRunning = test !== undefined && status?.report === undefined && step.error === null;
  return (
    <div className="page stack grow measure">
      <h1>Client test</h1>
      <p className="quiet">
        Use your application against this sandbox, once without added failures and once for each kind of
        failure. Its requests show whether it retries, waits and gives up as it should. Each run begins with
        the sandbox as it is now; the recorded requests are deleted. Your rules and scenarios stay active.
      </p>
      <Problem error={step.error} />
      {!isRunning && <StartForm onStart={start} isPending={step.isPending} />}
      {isRunning && test && status && (
        <Run
          run={status.run}
          onEnd={(how) => step.mutate(() => (how === "stop" ? test.stop() : test.end(how)))}
          isPending={step.isPending}
        />
      )}
      {status?.report && <Report report={status.report} />}
      {status && status.checks.length > 0 && (
        <ul className="panel lines" aria-label="Checks">
          {status.checks.map((check) => (
            <Check key={check.id} check={check} isUnderWay={isRunning} />
          ))}
        </ul>
      )}
    </div>
  );
}

const CHOICES = [
  { id: ALL_CHECKS, title: "All" },
  ...CLIENT_CHECKS.map(({ id, title }) => ({ id, title: id, detail: title })),
];

function StartForm({ onStart, isPending }: { onStart: (check: string) => void; isPending: boolean }) {
  const [check, choose] = useState(ALL_CHECKS);
  const { data } = useSnapshots(useSandboxName());
  const restore = useSandboxChange(
    async (calls) => {
      const { items } = await calls.rules();
      for (const { id } of items) if (id.startsWith(RULE_PREFIX)) await calls.removeRule(id);
      await calls.restoreSnapshot(SNAPSHOT_NAME);
      await calls.removeSnapshot(SNAPSHOT_NAME);
    },
    { confirmation: "The sandbox is as it was before the test." },
  );
  const mayBeInterrupted = data?.items.some((snapshot) => snapshot.name === SNAPSHOT_NAME) && !isPending;
  if (mayBeInterrupted) {
    return (
      <Notice outcome="waiting" action={<ActionButton label="Restore" change={restore} />}>
        A client test of this sandbox was interrupted, or runs in another tab or terminal. If it was
        interrupted, restore the state before it; then you can start another test.
      </Notice>
    );
  }
  return (
    <>
      <ChoiceField label="Checks" name="check" value={check} onChange={choose} choices={CHOICES} />
      <div className="actions">
        <ActionButton
          label="Start test"
          look="primary"
          onPress={() => onStart(check)}
          isPending={isPending}
        />
      </div>
    </>
  );
}

function Run(props: {
  run: ManualStatus["run"];
  onEnd: (how: "worked" | "error" | "hangs" | "stop") => void;
  isPending: boolean;
}) {
  const { run, onEnd, isPending } = props;
  const { data: sandbox } = useSandbox();
  if (run === undefined || sandbox === undefined) return <Notice outcome="waiting">Preparing …</Notice>;
  const title = run.run === 1 ? "without added failures" : run.checks.join(", ");
  return (
    <section className="stack" aria-label="Run">
      <Notice
        outcome="waiting"
        action={<ActionButton label="Stop" onPress={() => onEnd("stop")} isDisabled={isPending} />}
      >
        <strong>
          Run {run.run} of {run.of}
        </strong>
        , {title}. Point your application at <code>{sandbox.base_url}</code>, use it, and say how it ended.
      </Notice>
      <div className="actions">
        <ActionButton
          label="It worked"
          look="primary"
          onPress={() => onEnd("worked")}
          isPending={isPending}
        />
        <ActionButton label="It showed an error" onPress={() => onEnd("error")} isDisabled={isPending} />
        <ActionButton label="It hangs" onPress={() => onEnd("hangs")} isDisabled={isPending} />
        <CopyButton text={sandbox.base_url} label="Copy base URL" isSubtle />
      </div>
    </section>
  );
}

function Report({ report }: { report: ClientReport }) {
  return (
    <Notice
      outcome={report.verdict === "pass" ? "ok" : "failed"}
      action={<ActionButton label="Download JSON" onPress={() => downloadJson("client-test.json", report)} />}
    >
      {describeReport(report)}
    </Notice>
  );
}

function Check({ check, isUnderWay }: { check: ClientCheckReport; isUnderWay: boolean }) {
  const links = check.evidence.slice(0, 6).map((entry) => (
    <ViewLink key={entry.seq} view="timeline" query={{ entry: entry.id }}>
      {entry.method} {entry.path}
    </ViewLink>
  ));
  return (
    <GradedCheck check={check} isUnderWay={isUnderWay} actions={links}>
      <p>{check.why}</p>
    </GradedCheck>
  );
}

function toGradedSandbox(name: string): GradedSandbox {
  const calls = createSandboxCalls(name);
  return {
    info: calls.show,
    configure: calls.configure,
    clock: { set: calls.setClock },
    faults: { add: calls.addRule, remove: calls.removeRule },
    journal: { list: calls.journal, clear: calls.clearJournal },
    snapshots: { save: calls.takeSnapshot, restore: calls.restoreSnapshot, remove: calls.removeSnapshot },
    receivers: { add: calls.openReceiver, list: calls.receivers, requests: calls.received },
  };
}
