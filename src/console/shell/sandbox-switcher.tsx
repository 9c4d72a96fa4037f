import { Button, ListBox, ListBoxItem, Popover, Select, SelectValue } from "react-aria-components";
import { useLocation } from "wouter";
import { addressOf, useSandboxName } from "../address.ts";
import { useSandboxes } from "../api/queries.ts";

/** The same view of another sandbox. */
export function SandboxSwitcher() {
  const sandbox = useSandboxName();
  const { data } = useSandboxes();
  const [path, navigate] = useLocation();
  const known =
    data?.items.map(({ name, fixture, clock }) => ({ id: name, about: `${fixture}, ${clock.mode}` })) ?? [];
  // One that was deleted elsewhere is still where the page is.
  const items = known.some(({ id }) => id === sandbox)
    ? known
    : [{ id: sandbox, about: data ? "not there" : "" }, ...known];
  return (
    <Select
      className="switcher"
      aria-label="Sandbox"
      value={sandbox}
      onChange={(name) => navigate(addressOf(String(name), path.split("/")[3] ?? ""))}
    >
      <Button className="button switcher-button">
        <SelectValue>{({ selectedText }) => selectedText ?? sandbox}</SelectValue>
        <span aria-hidden="true">▾</span>
      </Button>
      <Popover className="popover">
        <ListBox className="choices" items={items}>
          {({ id, about }) => (
            <ListBoxItem id={id} textValue={id} className="choice">
              <span>{id}</span>
              <span className="choice-detail quiet small">{about}</span>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </Select>
  );
}
