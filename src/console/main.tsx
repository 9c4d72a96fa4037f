import { createRoot } from "react-dom/client";
import "./style/tokens.css";
import "./style/base.css";
import "./style/components.css";
import "./style/shell.css";
import { App } from "./app.tsx";
import { followLoginLink } from "./shell/login.tsx";
import { applyTheme } from "./shell/theme.tsx";
import { findViewInPath, prepareView } from "./views/index.ts";

/** A file that is dropped beside a place for files would replace the page. */
function refuseFile(event: DragEvent): void {
  const { dataTransfer, target } = event;
  if (event.defaultPrevented || !dataTransfer?.types.includes("Files")) return;
  if (target instanceof Element && target.matches("input[type=file]")) return;
  event.preventDefault();
  dataTransfer.dropEffect = "none";
}
addEventListener("dragover", refuseFile);
addEventListener("drop", refuseFile);

/** react-aria moves the focus and scrolls to it, but lets the browser scroll too, past the focused item. */
function keepFromScrolling(event: KeyboardEvent): void {
  const isInList = event.target instanceof Element && event.target.closest("[role=listbox], .tree");
  if (isInList && /^(Arrow|Page|Home$|End$)/.test(event.key)) event.preventDefault();
}
addEventListener("keydown", keepFromScrolling, { capture: true });

applyTheme();
await Promise.all([followLoginLink(), prepareView(findViewInPath(location.pathname))]);
createRoot(document.getElementById("console")!).render(<App />);
