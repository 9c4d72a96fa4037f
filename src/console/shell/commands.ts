/** Something that the palette offers. */
export interface Command {
  /** Unique among all that are offered at a time. */
  id: string;
  /** Under which heading it stands. */
  group: string;
  title: string;
  /** Smaller, beside the title. */
  detail?: string | undefined;
  /** Where it leads (an address below BASE), or what it does. */
  to?: string;
  run?: () => void;
}

/** Whether each word typed is somewhere in the command. */
export function matches(command: Command, typed: string): boolean {
  const text = `${command.group} ${command.title} ${command.detail ?? ""}`.toLowerCase();
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
