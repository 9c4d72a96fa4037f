import { useState } from "react";
import { Button } from "react-aria-components";
import { Link } from "wouter";
import { addressOf, useGo, useSandboxName } from "../../address.ts";
import { sandboxCalls } from "../../api/calls.ts";
import { useServerChange } from "../../api/queries.ts";
import type { SandboxState } from "../../api/types.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { counted } from "../../parts/counted.ts";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Section } from "../../parts/section.tsx";
import { absolute, clockWords } from "../../parts/time.tsx";
import { ForkDialog, ResetDialog } from "./sandbox-dialogs.tsx";
import { recordsIn } from "./words.ts";

/** It always exists: it is reset, and not deleted. */
const ALWAYS = "default";

/** One sandbox: how to reach it, what it is made of, and what can be done with it. */
export function SandboxPane({ sandbox, onClose }: { sandbox: SandboxState; onClose: () => void }) {
  const { name, base_url, fixture, seed, clock, scenarios, settings, counts, created_at } = sandbox;
  const [opened, setOpened] = useState<"reset" | "fork" | "delete">();
  const here = useSandboxName();
  const close = () => setOpened(undefined);
  return (
    <DetailPane
      title={name}
      label={`Sandbox ${name}`}
      onClose={onClose}
      actions={
        <>
          {name !== here && (
            <>
              <Link className="button" href={addressOf(name, "timeline")}>
                Go there
              </Link>
              <Link
                className="button"
                href={addressOf(here, "world", { show: "compare", of: name, to: "now" })}
              >
                Compare with {here}
              </Link>
            </>
          )}
          <Button className="button" onPress={() => setOpened("fork")}>
            Fork …
          </Button>
          <Button className="button" onPress={() => setOpened("reset")}>
            Reset …
          </Button>
          {name !== ALWAYS && (
            <Button className="button danger" onPress={() => setOpened("delete")}>
              Delete …
            </Button>
          )}
        </>
      }
    >
      <Section title="Base URL" end={<CopyButton subtle text={base_url} label="Copy" />}>
        <pre className="wire">{base_url}</pre>
      </Section>
      <Section title="World">
        <Facts
          facts={[
            ["Fixture", fixture],
            ["Seed", seed],
            ["Clock", `${clockWords(clock)}, ${absolute(clock.now)}`],
            ["Scenarios", scenarios.length === 0 ? "none in force" : scenarios.join(", ")],
            ["Made", `${absolute(created_at)}, by the wall clock`],
          ]}
        />
      </Section>
      <Section title={counted(recordsIn(sandbox), "record")}>
        <ul className="counts">
          {Object.entries(counts)
            .filter(([, count]) => count > 0)
            .map(([collection, count]) => (
              <li key={collection}>
                <Link href={addressOf(name, "world", { collection })}>{collection}</Link>
                <span className="number">{count.toLocaleString("en-GB")}</span>
              </li>
            ))}
        </ul>
      </Section>
      <Section title="Settings">
        <Facts facts={Object.entries(settings).map(([key, value]) => [key, settingText(value)])} />
      </Section>
      {opened === "fork" && <ForkDialog sandbox={sandbox} onClose={close} />}
      {opened === "reset" && <ResetDialog sandbox={sandbox} onClose={close} />}
      {opened === "delete" && <DeleteSandbox name={name} onClose={close} onDeleted={onClose} />}
    </DetailPane>
  );
}

function settingText(value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  return value.length === 0 ? "none" : value.join(", ");
}

function DeleteSandbox({
  name,
  onClose,
  onDeleted,
}: {
  name: string;
  onClose: () => void;
  onDeleted: () => void;
}) {
  const here = useSandboxName();
  const go = useGo();
  const remove = useServerChange(async () => {
    await sandboxCalls(name).remove();
    // Before the rest of the page is asked anew: nobody shall ask for what is no more.
    if (name === here) go("sandboxes", {}, ALWAYS);
    else onDeleted();
  });
  return (
    <Confirm
      title={`Delete ${name}?`}
      verb="Delete"
      pending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onClose={onClose}
    >
      <p>Its world, journal, history and snapshots go for good. Calls of its base URL are refused.</p>
    </Confirm>
  );
}
