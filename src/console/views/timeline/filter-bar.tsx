import { type ReactNode, useMemo } from "react";
import { ToggleButton } from "react-aria-components";
import { useParameters } from "../../address.ts";
import { FilterField } from "../../components/form.tsx";
import { Mark } from "../../components/status.tsx";
import { formatCount } from "../../components/text.tsx";
import {
  type BodyMatches,
  createFilter,
  FIELD_NAMES,
  type Filter,
  matchesOutcome,
  OUTCOMES,
} from "./filter.ts";
import type { Node } from "./nodes.ts";

/** Value of the parameter `order`; without it, entries are ordered by cause. */
const BY_TIME = "time";

/** The filter in the address; the same object until it changes. */
export function useFilter(): Filter {
  const { get } = useParameters();
  const text = get("find") ?? "";
  const show = get("show");
  const from = toSeq(get("from"));
  const to = toSeq(get("to"));
  return useMemo(() => ({ text, outcomes: new Set(show?.split(" ")), from, to }), [text, show, from, to]);
}

function toSeq(text: string | undefined): number | undefined {
  return Number(text) || undefined;
}

export function useIsOrderedByTime(): boolean {
  return useParameters().get("order") === BY_TIME;
}

export function FilterBar(props: {
  nodes: readonly Node[];
  filter: Filter;
  bodyMatches: BodyMatches | undefined;
  children: ReactNode;
}) {
  const { nodes, filter, bodyMatches, children } = props;
  const { set } = useParameters();
  const counts = useMemo(() => {
    const matchingNodes = nodes.filter(createFilter({ ...filter, outcomes: new Set() }, bodyMatches));
    const count = (outcome: string) => matchingNodes.filter((node) => matchesOutcome(node, outcome)).length;
    return new Map(OUTCOMES.map(([outcome]) => [outcome, count(outcome)]));
  }, [nodes, filter, bodyMatches]);
  return (
    <div className="chips filters">
      <FilterField
        label="Filter the timeline"
        placeholder="Filter: status:4*"
        hint={`Fields: ${FIELD_NAMES.join(", ")}. The field “by” is the rule or step behind the response. Examples: op:threads.* for a pattern, -user:… to exclude, body:"two words"`}
        value={filter.text}
        onChange={(find) => set({ find }, { replace: true })}
      />
      {OUTCOMES.map(([outcome, word]) => (
        <ToggleButton
          key={outcome}
          className="button chip"
          isSelected={filter.outcomes.has(outcome)}
          onChange={(on) => {
            const outcomes = new Set(filter.outcomes);
            if (on) outcomes.add(outcome);
            else outcomes.delete(outcome);
            set({ show: [...outcomes].join(" ") }, { replace: true });
          }}
        >
          <Mark outcome={outcome} word={null} />
          {word} <span className="quiet">{formatCount(counts.get(outcome)!)}</span>
        </ToggleButton>
      ))}
      <ToggleButton
        className="button chip"
        isSelected={useIsOrderedByTime()}
        onChange={(on) => set({ order: on ? BY_TIME : undefined }, { replace: true })}
      >
        Order by time
      </ToggleButton>
      {children}
    </div>
  );
}
