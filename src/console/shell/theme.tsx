import { createStore } from "../api/store.ts";
import { ActionButton } from "../components/button.tsx";

type Theme = "system" | "light" | "dark";

const STORAGE_KEY = "understudy-theme";
const stored = localStorage.getItem(STORAGE_KEY);
const theme = createStore<Theme>(stored === "light" || stored === "dark" ? stored : "system");

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = theme.get();
}

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const SIGNS: Record<Theme, string> = { system: "◐", light: "○", dark: "●" };

export function ThemeButton() {
  const shown = theme.use();
  const next = NEXT[shown];
  const choose = () => {
    localStorage.setItem(STORAGE_KEY, next);
    theme.set(next);
    applyTheme();
  };
  return (
    <ActionButton
      label={SIGNS[shown]}
      name={`Theme: ${shown}. Switch to ${next}`}
      look="square"
      onPress={choose}
    />
  );
}
