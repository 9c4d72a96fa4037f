import { Button } from "react-aria-components";
import { createStore } from "../api/store.ts";

type Theme = "system" | "light" | "dark";

const STORAGE_KEY = "understudy-theme";
const stored = localStorage.getItem(STORAGE_KEY);
const theme = createStore<Theme>(stored === "light" || stored === "dark" ? stored : "system");

export const useTheme = theme.use;

/** Follows the user's choice. */
export function applyTheme(): void {
  const value = theme.get();
  if (value === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = value;
}

theme.subscribe(applyTheme);

function chooseTheme(value: Theme): void {
  if (value === "system") localStorage.removeItem(STORAGE_KEY);
  else localStorage.setItem(STORAGE_KEY, value);
  theme.set(value);
}

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const SIGNS: Record<Theme, string> = { system: "◐", light: "○", dark: "●" };

export function ThemeButton() {
  const theme = useTheme();
  return (
    <Button
      className="button subtle icon-button"
      aria-label={`Theme: ${theme}. Switch to ${NEXT[theme]}`}
      onPress={() => chooseTheme(NEXT[theme])}
    >
      {SIGNS[theme]}
    </Button>
  );
}
