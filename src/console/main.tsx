import { createRoot } from "react-dom/client";
import "./style/tokens.css";
import "./style/base.css";
import "./style/parts.css";
import "./style/shell.css";
import { App } from "./app.tsx";
import { followLoginLink } from "./shell/login.tsx";
import { applyTheme } from "./shell/theme.ts";
import { prepareView, viewIn } from "./views/components.ts";

applyTheme();
await Promise.all([followLoginLink(), prepareView(viewIn(location.pathname))]);
createRoot(document.getElementById("console")!).render(<App />);
