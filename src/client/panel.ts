import type { PageSandbox } from "./page-start.ts";
import type { ClockState, Duration, SandboxState, ScenarioName, ScenarioState } from "./types.ts";

/* The parts of the DOM that are used here; the types of browsers are not among this project's. */
interface Node {
  id: string;
  hidden: boolean;
  open: boolean;
  value: string;
  src: string;
  innerHTML: string;
  textContent: string;
  dataset: Record<string, string | undefined>;
  setAttribute(name: string, value: string): void;
  addEventListener(type: string, listener: (event: { key: string; target: Node }) => void): void;
  append(...children: (Node | string)[]): void;
  replaceChildren(...children: Node[]): void;
  querySelectorAll(selector: string): Iterable<Node>;
  focus(): void;
  showModal(): void;
  close(): void;
  remove(): void;
}
declare const document: { body: Node; createElement(tag: string): Node };
declare const CSSStyleSheet: new () => { replaceSync(text: string): void };
declare const customElements: {
  get(tag: string): unknown;
  define(tag: string, element: unknown): void;
};
interface Host extends Node {
  attachShadow(options: { mode: "open" }): Node & { adoptedStyleSheets: unknown[] };
  dispatchEvent(event: Event): boolean;
}
// Node.js has no HTMLElement, and may import this file too.
const HtmlElement = ((globalThis as { HTMLElement?: unknown }).HTMLElement ?? class {}) as new () => Host;

const TAG = "understudy-panel";

const STYLE = `
:host { all: initial; color-scheme: light dark; position: fixed; right: 12px; bottom: 12px; z-index: 2147483000;
  max-width: calc(100vw - 24px); font: 14px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif;
  color: light-dark(#1b1f27, #e5e8ed); }
* { box-sizing: border-box; font: inherit; color: inherit; }
[hidden] { display: none; }
button, select { padding: 4px 10px; border: 1px solid light-dark(#868f9d, #6c7583); border-radius: 6px;
  background: light-dark(#fff, #1a1d23); cursor: pointer; }
button:hover { background: light-dark(#eef0f5, #22262e); }
:focus-visible { outline: 2px solid light-dark(#4347c4, #a3a7ff); outline-offset: 1px; }
#handle { display: block; margin-left: auto; max-width: min(340px, 100%); overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
  border-radius: 16px; box-shadow: 0 2px 8px rgb(0 0 0 / .18); }
#handle b { font-weight: 600; color: light-dark(#4347c4, #a3a7ff); }
#panel { width: 340px; max-width: 100%; margin-left: auto; max-height: calc(100vh - 80px); overflow: auto; margin-bottom: 8px; padding: 14px;
  border: 1px solid light-dark(#dfe2e8, #2c313a); border-radius: 8px; background: light-dark(#fbfbfc, #14161b);
  box-shadow: 0 8px 28px rgb(0 0 0 / .18); display: grid; gap: 10px; }
#panel[hidden] { display: none; }
h2, p { margin: 0; } h2 { font-weight: 600; }
.quiet, label > span, legend { color: light-dark(#596271, #99a3b1); font-size: 12px; padding: 0; }
label { display: grid; gap: 2px; } select { width: 100%; min-width: 0; padding-right: 24px; text-overflow: ellipsis; }
fieldset { margin: 0; padding: 0; border: 0; min-width: 0; display: grid; gap: 6px; }
.row { display: flex; flex-wrap: wrap; gap: 6px; } .row > * { flex: 1 1 auto; }
code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 13px; }
#status:empty { display: none; } #status.failed { color: light-dark(#b3202c, #ff8d85); }
dialog { width: 96vw; height: 94vh; max-width: none; max-height: none; padding: 0; border: 0; border-radius: 8px;
  background: light-dark(#fbfbfc, #14161b); overflow: hidden; }
dialog[open] { display: grid; grid-template-rows: auto 1fr; }
dialog::backdrop { background: rgb(0 0 0 / .4); }
dialog header { display: flex; justify-content: space-between; align-items: center; padding: 6px 12px; }
iframe { width: 100%; height: 100%; border: 0; }`;

const CONTENT = `
<section id="panel" aria-labelledby="title" hidden>
  <div><h2 id="title">Understudy</h2><p id="world" class="quiet"></p></div>
  <label><span>Scenario</span><select id="scenario"></select></label>
  <label><span>User of the page's requests</span><select id="user"></select></label>
  <fieldset><legend>Clock</legend><code id="now"></code>
    <select id="mode" aria-label="Mode of the clock"><option value="real">real time<option value="frozen">frozen<option value="scaled" disabled>scaled</select>
    <div class="row"><button data-by="1m">+1 min</button><button data-by="1h">+1 hour</button><button data-by="1d">+1 day</button><button data-by="next">Next timer</button></div>
  </fieldset>
  <div class="row"><button id="reset">Reset</button><button id="console">Open console</button></div>
  <p id="status" role="status"></p>
</section>
<button id="handle" aria-expanded="false" aria-controls="panel"><b>Understudy</b> <span id="brief"></span></button>
<dialog aria-label="Console"><header><b>Console</b><button id="close">Close</button></header><iframe title="Console"></iframe></dialog>`;

/** The element `<understudy-panel>`. */
export interface Panel {
  /** Opens the panel, or closes it. */
  toggle(): void;
  remove(): void;
  /** A change by the panel. */
  addEventListener(type: "change", listener: () => void): void;
}

class UnderstudyPanel extends HtmlElement {
  private readonly parts: Record<string, Node> = {};
  private sandbox: PageSandbox | undefined;
  private clockTimer: ReturnType<typeof setInterval> | undefined;

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    root.innerHTML = CONTENT;
    // A page's Content-Security-Policy may forbid an element `<style>`.
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    root.adoptedStyleSheets = [sheet];
    // By id, or by the tag's name.
    for (const node of root.querySelectorAll("[id], dialog, iframe"))
      this.parts[node.id || (node as { localName?: string }).localName!] = node;
    const on = (name: string, type: string, act: (sandbox: PageSandbox, value: string) => unknown) => {
      const node = this.parts[name]!;
      node.addEventListener(type, () => void this.perform((sandbox) => act(sandbox, node.value)));
    };
    on("scenario", "change", (sandbox, name) =>
      sandbox.scenarios.activate(...(name === "" ? [] : [name as ScenarioName])),
    );
    on("user", "change", (sandbox, user) => sandbox.actAs(user === "" ? undefined : user));
    on("mode", "change", (sandbox, mode) => sandbox.clock.set({ mode: mode as ClockState["mode"] }));
    on("reset", "click", (sandbox) => sandbox.reset());
    for (const button of root.querySelectorAll("[data-by]"))
      button.addEventListener("click", () =>
        this.perform(({ clock }) => {
          const { by } = button.dataset;
          return clock.advance(by === "next" ? { next: true } : (by as Duration));
        }),
      );
    const { handle, console: consoleButton, close: closeButton, dialog, iframe } = this.parts;
    handle!.addEventListener("click", () => this.toggle());
    consoleButton!.addEventListener("click", () => void this.openConsole());
    closeButton!.addEventListener("click", () => dialog!.close());
    dialog!.addEventListener("close", () => {
      // Ends the console's page. The panel then shows what it has changed.
      iframe!.src = "about:blank";
      void this.perform();
    });
    root.addEventListener("keydown", ({ key }) => {
      if (key === "Escape" && !this.parts["panel"]!.hidden && !dialog!.open) this.toggle();
    });
  }

  setSandbox(sandbox: PageSandbox): void {
    this.sandbox = sandbox;
    void this.perform();
  }

  toggle(): void {
    const { panel, handle, scenario } = this.parts;
    panel!.hidden = !panel!.hidden;
    handle!.setAttribute("aria-expanded", String(!panel!.hidden));
    clearInterval(this.clockTimer);
    if (panel!.hidden) handle!.focus();
    else {
      scenario!.focus();
      void this.perform();
      this.clockTimer = setInterval(() => void this.showClock().catch(() => {}), 1000);
    }
  }

  disconnectedCallback(): void {
    clearInterval(this.clockTimer);
  }

  /** Performs a change, if one is given, and shows the state after it, or the error. */
  private async perform(act?: (sandbox: PageSandbox) => unknown): Promise<void> {
    const { status } = this.parts;
    try {
      this.showStatus("");
      await act?.(this.sandbox!);
      await this.refresh();
      if (act) this.dispatchEvent(new Event("change"));
    } catch (error) {
      this.showStatus((error as Error).message);
      status!.setAttribute("class", "failed");
    }
  }

  private showStatus(text: string): void {
    this.parts["status"]!.setAttribute("class", "");
    this.parts["status"]!.textContent = text;
  }

  private async refresh(): Promise<void> {
    const sandbox = this.sandbox!;
    const { scenario, user, world, brief } = this.parts;
    const [state, { items }] = await Promise.all([sandbox.info(), sandbox.scenarios.list()]);
    world!.textContent = `${state.name}: fixture ${state.fixture}, seed ${state.seed}`;
    const active = state.scenarios[0] ?? "";
    fillSelect(scenario!, active, [
      ["", "none"],
      ...items.map(({ name }: ScenarioState) => [name, name] as const),
    ]);
    const users = Object.keys(sandbox.credentials);
    fillSelect(user!, sandbox.user ?? "", [
      ["", "as the page sends them"],
      ...users.map((one) => [one, one] as const),
    ]);
    brief!.textContent = [...state.scenarios, sandbox.user].filter(Boolean).join(", ");
    this.showClockState(state.clock);
  }

  private async showClock(): Promise<void> {
    this.showClockState(await this.sandbox!.clock.show());
  }

  private showClockState({ mode, now }: SandboxState["clock"]): void {
    this.parts["now"]!.textContent = now.replace("T", " ").replace(/\.\d+Z$/, " UTC");
    this.parts["mode"]!.value = mode;
  }

  private async openConsole(): Promise<void> {
    const { consoleUrl } = this.sandbox!;
    const file = await fetch(consoleUrl.replace(/\/_console\/.*/, "/_console/index.html")).catch(
      () => undefined,
    );
    // Some servers answer every unknown path with a page of the application.
    if (!file?.ok || !(await file.text()).includes('<div id="console">'))
      return this.showStatus(
        "The console's files are missing; write them with: npx understudy worker-file DIR --console",
      );
    this.parts["iframe"]!.src = consoleUrl;
    this.parts["dialog"]!.showModal();
  }
}

function fillSelect(
  select: Node,
  selected: string,
  options: (readonly [value: string, text: string])[],
): void {
  select.replaceChildren(
    ...options.map(([value, text]) => {
      const option = document.createElement("option");
      option.value = value;
      option.textContent = text;
      return option;
    }),
  );
  select.value = selected;
}

/**
 * Adds the panel to the page (interfaces.md 17). It shows the page's sandbox, switches scenario, user and clock, and opens the
 * console. After a change it emits `change`, so that the page may load its data again.
 */
export function showPanel(sandbox: PageSandbox): Panel {
  if (customElements.get(TAG) === undefined) customElements.define(TAG, UnderstudyPanel);
  const panel = document.createElement(TAG) as UnderstudyPanel;
  document.body.append(panel);
  panel.setSandbox(sandbox);
  return panel;
}
