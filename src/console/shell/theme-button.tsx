import { Button } from "react-aria-components";
import { chooseTheme, type Theme, useTheme } from "./theme.ts";

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const SIGNS: Record<Theme, string> = { system: "◐", light: "○", dark: "●" };

export function ThemeButton() {
  const theme = useTheme();
  return (
    <Button
      className="button subtle icon-button"
      aria-label={`Colours: ${theme}. Change to ${NEXT[theme]}`}
      onPress={() => chooseTheme(NEXT[theme])}
    >
      {SIGNS[theme]}
    </Button>
  );
}
