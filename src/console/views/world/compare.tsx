import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { addressOf, useParameters, useSandboxName } from "../../address.ts";
import { sandboxCalls } from "../../api/calls.ts";
import { sandboxKey, useSandboxes } from "../../api/queries.ts";
import { ChoiceField } from "../../parts/form.tsx";
import { Nothing, Notice, ReadProblem } from "../../parts/notice.tsx";
import { Comparison, type World } from "./comparison.tsx";

/** The world as it is; a snapshot cannot be called so where two are compared. */
export const NOW = "now";

/** This world beside another: of another sandbox, such as a branch, or one that a snapshot keeps. */
export function Compare() {
  const { get, set } = useParameters();
  const here = useSandboxName();
  const sandboxes = useSandboxes();
  const own = useSnapshots(here);
  const from = get("from") ?? NOW;
  const others = sandboxes.data?.items.filter(({ name }) => name !== here);
  const newest = own.data?.items.at(-1)?.name;
  // Nothing chosen: the newest snapshot, else the sandbox that was made last.
  const of = get("of") ?? (get("to") || newest ? here : others?.at(-1)?.name);
  const to = get("to") ?? (of === here ? newest : NOW);
  const theirs = useSnapshots(of);
  const isKnown = sandboxes.data !== undefined && own.data !== undefined;
  if (isKnown && (of === undefined || to === undefined)) return <NothingBeside />;
  return (
    <div className="page">
      <div className="world-tools">
        <ChoiceField
          label={`World of ${here}`}
          name="from"
          value={from}
          onChange={(at) => set({ from: at })}
          choices={worldsOf(own.data?.items)}
        />
        <ChoiceField
          label="Beside the sandbox"
          name="of"
          value={of ?? ""}
          onChange={(name) => set({ of: name, to: NOW })}
          choices={sandboxes.data?.items.map(({ name }) => ({
            id: name,
            title: name,
            ...(name === here && { detail: "this one" }),
          }))}
        />
        <ChoiceField
          label="Its world"
          name="to"
          value={to ?? ""}
          onChange={(at) => set({ of, to: at })}
          choices={worldsOf(theirs.data?.items)}
        />
      </div>
      <ReadProblem error={sandboxes.error ?? own.error} />
      {sandboxes.data && of !== undefined && !sandboxes.data.items.some(({ name }) => name === of) ? (
        <Notice outcome="refused">There is no sandbox {of}; it may have been deleted.</Notice>
      ) : (
        of !== undefined &&
        to !== undefined && <Comparison from={worldOf(here, from, of)} to={worldOf(of, to, here)} />
      )}
    </div>
  );
}

function NothingBeside() {
  const sandbox = useSandboxName();
  return (
    <Nothing title="There is no other world to compare this one with.">
      <Link href={addressOf(sandbox, "world", { show: "snapshots" })}>Take a snapshot</Link>, or branch from
      an entry of <Link href={addressOf(sandbox, "timeline")}>the timeline</Link>.
    </Nothing>
  );
}

function useSnapshots(sandbox: string | undefined) {
  return useQuery({
    queryKey: [...sandboxKey(sandbox ?? ""), "snapshots"],
    queryFn: () => sandboxCalls(sandbox!).snapshots(),
    enabled: sandbox !== undefined,
  });
}

function worldsOf(snapshots: readonly { name: string }[] | undefined) {
  if (snapshots === undefined) return undefined;
  return [
    { id: NOW, title: "the present" },
    ...snapshots.map(({ name }) => ({ id: name, title: name, detail: "a snapshot" })),
  ];
}

/** Two worlds of one sandbox are told apart by what they are, those of two by whose they are. */
function worldOf(sandbox: string, at: string, other: string): World {
  const title =
    sandbox === other ? (at === NOW ? "the present" : at) : at === NOW ? sandbox : `${sandbox} at ${at}`;
  return { at, sandbox, title };
}
