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

applyTheme();
await Promise.all([followLoginLink(), prepareView(findViewInPath(location.pathname))]);
createRoot(document.getElementById("console")!).render(<App />);
