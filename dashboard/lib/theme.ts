import { effect, signal } from "@preact/signals";

type Theme = "system" | "light" | "dark";
const KEY = "headwater-theme";

function saved(): Theme {
  const value = localStorage.getItem(KEY);
  return value === "light" || value === "dark" ? value : "system";
}

export const theme = signal<Theme>(saved());

effect(() => {
  const { dataset } = document.documentElement;
  if (theme.value === "system") {
    delete dataset.theme;
    localStorage.removeItem(KEY);
  } else {
    dataset.theme = theme.value;
    localStorage.setItem(KEY, theme.value);
  }
});

export const isDark = (): boolean =>
  theme.value === "dark" || (theme.value === "system" && matchMedia("(prefers-color-scheme: dark)").matches);

/** To the other one of what is shown; back to the system's when that is the same. */
export function switchTheme(): void {
  const next = isDark() ? "light" : "dark";
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  theme.value = next === system ? "system" : next;
}
