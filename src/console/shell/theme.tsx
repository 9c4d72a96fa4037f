import { createStore, readStored, storeValue } from "../api/store.ts";
import { ActionButton } from "../components/button.tsx";

type Theme = "system" | "light" | "dark";

const STORAGE_KEY = "understudy-theme";
const storedTheme = readStored("localStorage", STORAGE_KEY);
const theme = createStore<Theme>(storedTheme === "light" || storedTheme === "dark" ? storedTheme : "system");

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = theme.get();
}

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const SIGNS: Record<Theme, string> = { system: "◐", light: "○", dark: "●" };

export function ThemeButton() {
  const current = theme.use();
  const next = NEXT[current];
  const switchTheme = () => {
    storeValue("localStorage", STORAGE_KEY, next);
    theme.set(next);
    applyTheme();
  };
  return (
    <ActionButton
      label={SIGNS[current]}
      name={`Theme: ${current}. Switch to ${next}`}
      look="square"
      onPress={switchTheme}
    />
  );
}
