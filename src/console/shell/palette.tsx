import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import {
  Autocomplete,
  Collection,
  Header,
  Input,
  type Key,
  Menu,
  MenuItem,
  MenuSection,
  SearchField,
} from "react-aria-components";
import { useLocation } from "wouter";
import { toPrintableLines } from "../../engine/contract/text.ts";
import { toAddress, useSandboxName } from "../address.ts";
import { Dialog } from "../components/button.tsx";
import { showConfirmation } from "../components/confirmations.tsx";
import { focusViewIfLost } from "../components/layout.tsx";
import { containsWords } from "../components/text.tsx";
import type { TimelineData } from "../live/timeline-data.ts";
import { useLiveStream } from "../live/use-live.tsx";
import { FINDERS } from "../views/find.ts";
import { type Command, VIEWS } from "../views/index.ts";

const MAX_SHOWN = 60;

/** Opened by Ctrl-K: finds views, actions, scenarios, records, operations, entries and sandboxes. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const sandbox = useSandboxName();
  const { state } = useLiveStream();
  const [, navigate] = useLocation();
  const client = useQueryClient();
  const [typed, setTyped] = useState("");
  const { data: allCommands = [], isPending } = useQuery({
    queryKey: ["palette", sandbox, typed],
    queryFn: () => findAll(typed, sandbox, state.get().timeline),
    placeholderData: (before) => before,
  });
  const isWhole = ({ title }: Command) => title.toLowerCase() === typed.trim().toLowerCase();
  const commands = allCommands
    .filter(({ group, title, detail = "" }) => containsWords(`${group} ${title} ${detail}`, typed))
    .sort((a, b) => Number(isWhole(b)) - Number(isWhole(a)))
    .slice(0, MAX_SHOWN);
  const groups = [...new Set(commands.map(({ group }) => group))];
  const run = async (id: Key) => {
    const command = commands.find((one) => one.id === id);
    onClose();
    try {
      if (command?.to !== undefined) navigate(command.to);
      await command?.run?.();
    } catch (error) {
      showConfirmation({ text: (error as Error).message, outcome: "refused" });
    }
    if (command?.run) await client.invalidateQueries();
    // The element that had the focus may belong to the view that was left.
    focusViewIfLost();
  };
  return (
    <Dialog title="Search" onClose={onClose}>
      <Autocomplete inputValue={typed} onInputChange={setTyped}>
        <SearchField
          className="field"
          aria-label="Search views, actions, scenarios, records, entries"
          autoFocus
        >
          <Input className="input" placeholder="Views, actions, scenarios, records …" />
        </SearchField>
        <Menu
          className="choices palette"
          aria-label="Results"
          onAction={run}
          renderEmptyState={() => <p className="quiet">{isPending ? "Loading …" : "No matches."}</p>}
        >
          {groups.map((group) => (
            <MenuSection key={group} id={group}>
              <Header className="choices-head">{group}</Header>
              <Collection items={commands.filter((one) => one.group === group)}>
                {({ id, title, detail }) => (
                  <MenuItem id={id} textValue={title} className="choice flow">
                    <span>{toPrintableLines(title)}</span>
                    {detail && <span className="choice-detail quiet small">{toPrintableLines(detail)}</span>}
                  </MenuItem>
                )}
              </Collection>
            </MenuSection>
          ))}
        </Menu>
      </Autocomplete>
    </Dialog>
  );
}

/** All views and the commands of each finder; a finder that fails is left out. */
async function findAll(typed: string, sandbox: string, timeline: TimelineData): Promise<Command[]> {
  const views = VIEWS.map(({ id, title, about }) => ({
    id: `view ${id}`,
    group: "Views",
    title,
    detail: about,
    to: toAddress(sandbox, id),
  }));
  const results = FINDERS.map((find) => find(typed, sandbox, timeline).catch(() => []));
  return [...views, ...(await Promise.all(results)).flat()];
}
