import { useSyncExternalStore } from "react";
import { Button } from "react-aria-components";

export type Theme = "system" | "light" | "dark";

const STORAGE_KEY = "understudy-theme";
const listeners = new Set<() => void>();

export function currentTheme(): Theme {
  const kept = localStorage.getItem(STORAGE_KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function applyTheme(): void {
  const theme = currentTheme();
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

export function chooseTheme(theme: Theme): void {
  if (theme === "system") localStorage.removeItem(STORAGE_KEY);
  else localStorage.setItem(STORAGE_KEY, theme);
  applyTheme();
  for (const listener of listeners) listener();
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, currentTheme);
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
