import type { ComponentType } from "react";
import type { Story } from "../live/story.ts";
import type { Command } from "../shell/commands.ts";

export interface View {
  /** The last part of its address: `/_console/s/default/ID`. */
  id: string;
  title: string;
  /** One line for the palette and the title of the link. */
  about: string;
  /** An outline of 20 by 20, drawn with the colour of the text. */
  icon: string;
  /** Loaded when somebody goes there; its folder's `index.tsx`, by itself or with other small ones (smaller.ts). */
  load: () => Promise<{ default: ComponentType }>;
}

/** `sandbox` is the one in the address, `story` what the page knows of it. Called for each word typed, at most a few times a second. */
export type FindCommands = (typed: string, sandbox: string, story: Story) => Promise<readonly Command[]>;
