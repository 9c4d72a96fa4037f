import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  Autocomplete,
  Collection,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  SearchField,
} from "react-aria-components";
import { useLocation } from "wouter";
import { addressOf, useSandboxName } from "../address.ts";
import type { Story } from "../live/story.ts";
import { useLiveStream } from "../live/use-live.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { FINDERS } from "../views/find.ts";
import { VIEWS } from "../views/index.ts";
import { type Command, matches } from "./commands.ts";

const MAX_SHOWN = 60;

/** Finds views, and what each view knows to find; by Ctrl-K. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const sandbox = useSandboxName();
  const stream = useLiveStream();
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState("");
  const { data: found = [] } = useQuery({
    queryKey: ["palette", sandbox, typed],
    queryFn: () => findAll(typed, sandbox, stream.current().story),
    placeholderData: (before) => before,
  });
  const commands = found.filter((command) => matches(command, typed)).slice(0, MAX_SHOWN);
  const groups = [...new Set(commands.map(({ group }) => group))];
  const choose = (id: unknown) => {
    const command = commands.find((one) => one.id === id);
    onClose();
    if (command?.to !== undefined) navigate(command.to);
    command?.run?.();
  };
  return (
    <Dialog title="Find" isOpen onClose={onClose}>
      <Autocomplete inputValue={typed} onInputChange={setTyped}>
        <SearchField className="field" aria-label="Views, operations, records, entries" autoFocus>
          <Input className="input" placeholder="Views, operations, records, entries" />
        </SearchField>
        <Menu
          className="choices palette"
          aria-label="Found"
          onAction={choose}
          renderEmptyState={() => <p className="quiet">Nothing is called so.</p>}
        >
          {groups.map((group) => (
            <MenuSection key={group} id={group}>
              <Header className="choices-head">{group}</Header>
              <Collection items={commands.filter((one) => one.group === group)}>
                {({ id, title, detail }) => (
                  <MenuItem id={id} textValue={title} className="choice">
                    <span>{title}</span>
                    {detail && <span className="choice-detail quiet small">{detail}</span>}
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

/** A view that cannot tell at the moment keeps nobody from the others. */
async function findAll(typed: string, sandbox: string, story: Story): Promise<Command[]> {
  const views = VIEWS.map(({ id, title, about }) => ({
    id: `view ${id}`,
    group: "Views",
    title,
    detail: about,
    to: addressOf(sandbox, id),
  }));
  const more = FINDERS.map((find) => find(typed, sandbox, story).catch(() => []));
  return [...views, ...(await Promise.all(more)).flat()];
}
