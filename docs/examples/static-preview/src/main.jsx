import { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { start } from "understudy-sandbox/browser";
import { showPanel } from "understudy-sandbox/panel";
import { Departments } from "./departments.jsx";
import { Limits } from "./limits.jsx";
import { Uploads } from "./uploads.jsx";
import { Webhooks } from "./webhooks.jsx";

// The preview's own part: in production, the same requests reach the real API.
const sandbox = await start({
  persist: "acme-preview",
  user: "usr_ada",
  clock: { mode: "frozen", now: "2026-03-15T12:00:00Z" },
  offline: true,
});
showPanel(sandbox).addEventListener("change", () => location.reload());

const SCREENS = { departments: Departments, uploads: Uploads, webhooks: Webhooks, limits: Limits };

function Application() {
  const [shown, setShown] = useState(location.hash.slice(1) || "departments");
  useEffect(() => {
    const follow = () => setShown(location.hash.slice(1));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  const Screen = SCREENS[shown] ?? Departments;
  return (
    <>
      <h1>Acme</h1>
      <nav>
        {Object.keys(SCREENS).map((name) => (
          <a key={name} href={`#${name}`} aria-current={name === shown ? "page" : undefined}>
            {name}
          </a>
        ))}
      </nav>
      <Screen sandbox={sandbox} />
    </>
  );
}

createRoot(document.getElementById("application")).render(
  <StrictMode>
    <Application />
  </StrictMode>,
);
