import { useState } from "react";
import { Button } from "react-aria-components";
import { Link } from "wouter";
import type { SandboxState } from "../../../../types/control-api.ts";
import { toAddress, useGo, useSandboxName } from "../../address.ts";
import { sandboxCalls } from "../../api/calls.ts";
import { useServerChange } from "../../api/queries.ts";
import { Confirm } from "../../components/dialog.tsx";
import { DetailPane, Facts, Section } from "../../components/layout.tsx";
import { CopyButton, pluralize } from "../../components/text.tsx";
import { absolute, formatClock } from "../../components/time.tsx";
import { ForkDialog, ResetDialog } from "./sandbox-dialogs.tsx";

/** Always exists, so it cannot be deleted. */
const ALWAYS = "default";

/** One sandbox: base URL, fixture, clock, records, settings, and actions. */
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
              <Link className="button" href={toAddress(name, "timeline")}>
                Switch to it
              </Link>
              <Link
                className="button"
                href={toAddress(here, "world", { show: "compare", of: name, to: "now" })}
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
      <Section title="Setup">
        <Facts
          facts={[
            ["Fixture", fixture],
            ["Seed", seed],
            ["Clock", `${formatClock(clock)}, ${absolute(clock.now)}`],
            ["Scenarios", scenarios.length === 0 ? "none active" : scenarios.join(", ")],
            ["Created", `${absolute(created_at)}, real time`],
          ]}
        />
      </Section>
      <Section title={pluralize(countRecords(sandbox), "record")}>
        <ul className="counts">
          {Object.entries(counts)
            .filter(([, count]) => count > 0)
            .map(([collection, count]) => (
              <li key={collection}>
                <Link href={toAddress(name, "world", { collection })}>{collection}</Link>
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
    // Navigate before the queries refetch: this sandbox no longer exists.
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
      <p>Deletes its data, journal, history and snapshots permanently. Calls to its base URL will fail.</p>
    </Confirm>
  );
}

export function countRecords({ counts }: SandboxState): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
