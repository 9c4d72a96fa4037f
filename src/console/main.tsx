import { createRoot } from "react-dom/client";
import "./style/tokens.css";
import "./style/base.css";
import "./style/components.css";
import "./style/shell.css";
import { App } from "./app.tsx";
import { followLoginLink } from "./shell/login.tsx";
import { applyTheme } from "./shell/theme.tsx";
import { findViewInPath, prepareView } from "./views/index.ts";

applyTheme();
await Promise.all([followLoginLink(), prepareView(findViewInPath(location.pathname))]);
createRoot(document.getElementById("console")!).render(<App />);
