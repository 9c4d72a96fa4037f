import { PAGE_STYLE } from "../reports/page-style.ts";

/** The style sheet of the console. */
export const STYLE = `${PAGE_STYLE}
header { display: flex; align-items: baseline; gap: .25rem 1rem; flex-wrap: wrap; }
header p { margin: 0; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.trouble { margin: 1rem 0; padding: .6rem .9rem; border-left: .3rem solid var(--bad); background: var(--bad-soft); color: var(--bad); }
.head { display: flex; align-items: baseline; gap: 1rem; }
button, input { font: inherit; color: inherit; background: var(--soft); border: 1px solid var(--line); border-radius: 4px; padding: .15rem .7rem; }
button { cursor: pointer; }
button:hover, button[aria-pressed="true"] { border-color: var(--link); color: var(--link); }
form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: 1rem 0; }
[hidden] { display: none !important; }
.line { display: flex; gap: .5rem; align-items: center; margin-bottom: .75rem; }
.line pre { flex: 1; min-width: 0; }
td { font: 13px/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: break-word; }
td pre { max-height: 30rem; overflow: auto; }
tr.chosen-row td { background: var(--soft); }
tr.chosen-row td:first-child { box-shadow: inset 3px 0 var(--link); }
.failed .answer { color: var(--bad); }
tr.unusable td { color: var(--quiet); }
.sandboxes { min-width: 52rem; } .sandboxes td:first-child { min-width: 9rem; max-width: 16rem; }
.sandboxes td:nth-child(2) { max-width: 24rem; } .sandboxes td:nth-child(3) { white-space: nowrap; }
.credentials { min-width: 58rem; } .credentials td { white-space: nowrap; vertical-align: baseline; } .credentials td:nth-child(2), .credentials td:nth-child(4) { white-space: normal; font: .93rem/1.5 system-ui, sans-serif; }
.journal { min-width: 66rem; table-layout: fixed; }
.journal th:nth-child(1) { width: 12.5rem; } .journal th:nth-child(3) { width: 16rem; } .journal th:nth-child(4) { width: 12.5rem; }
.journal th:nth-child(5) { width: 6.5rem; } .journal th:nth-child(6) { width: 4rem; }
.journal .opener { font: inherit; text-align: left; padding: 0; border: 0; background: none; color: var(--link); }
.opener::before { content: "▸ " / ""; } .opener[aria-expanded="true"]::before { content: "▾ " / ""; }
.journal td { overflow-wrap: anywhere; }
@media (max-width: 50rem) { body { padding: 1rem; } .line { align-items: stretch; flex-direction: column; } .line button { align-self: flex-start; } }
`;
