import { createRoot } from "react-dom/client";
import "./style/tokens.css";
import "./style/base.css";
import "./style/parts.css";
import "./style/shell.css";
import { App } from "./app.tsx";
import { followLoginLink } from "./shell/login.tsx";
import { applyTheme } from "./shell/theme.ts";

applyTheme();
await followLoginLink();
createRoot(document.getElementById("console")!).render(<App />);
