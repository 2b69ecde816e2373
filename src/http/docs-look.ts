import { PALETTE } from "./html-page.ts";

const FONTS =
  '--font-regular:"Inter",ui-sans-serif,system-ui,sans-serif;--font-mono:ui-monospace,Menlo,monospace';

/**
 * How the viewer of the API is laid out. It shows no navigation of its own on narrow screens; there the button "Menu" shows it over
 * the text.
 */
export const DOCS_STYLE =
  "body.docs{height:100vh;display:flex;flex-direction:column}" +
  `openapi-explorer{flex:1;min-height:0;--font-size-small:14px;--font-size-mono:13px;--font-size-regular:15px;${FONTS}}` +
  "#menu{display:none;margin-left:auto;font:inherit;color:var(--text);background:var(--surface);border:1px solid var(--line);border-radius:6px;padding:.35rem .8rem}" +
  "@media(max-width:767.98px){#menu{display:block}.top{gap:.9rem}.top .brand{font-size:0;gap:0}" +
  "body[data-menu] openapi-explorer::part(section-navbar){display:flex;position:fixed;inset:3.4rem 0 0;width:auto;height:auto;z-index:2}}";

/** Colours that the viewer takes as attributes, by the names of the palette. */
const ATTRIBUTES = {
  "bg-color": "bg",
  "text-color": "text",
  "primary-color": "accent",
  "secondary-color": "accent",
  "nav-bg-color": "surface",
  "nav-text-color": "text-2",
  "nav-hover-bg-color": "hover",
  "nav-hover-text-color": "text",
} as const;
const VALUES = Object.fromEntries(
  Object.entries(ATTRIBUTES).map(([attribute, name]) => [attribute, PALETTE[name]]),
);

/** Follows the colours that were chosen in the dashboard, else those of the system, and opens and closes the menu. */
export const DOCS_SCRIPT = `"use strict";
const viewer = document.querySelector("openapi-explorer");
// On a narrow screen the viewer would draw itself again, without navigation.
viewer.handleResize = () => {};
const chosen = localStorage.getItem("headwater-theme");
const system = matchMedia("(prefers-color-scheme: dark)");
const colours = ${JSON.stringify(VALUES)};
const paint = () => {
  const isDark = chosen === "dark" || (chosen !== "light" && system.matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  for (const [name, values] of Object.entries(colours)) viewer.setAttribute(name, values[isDark ? 1 : 0]);
};
paint();
system.addEventListener("change", paint);
const menu = document.getElementById("menu");
const show = isShown => {
  document.body.toggleAttribute("data-menu", isShown);
  menu.setAttribute("aria-expanded", String(isShown));
};
menu.addEventListener("click", () => show(!document.body.hasAttribute("data-menu")));
addEventListener("keydown", event => event.key === "Escape" && show(false));
viewer.addEventListener("click", event => {
  const isPlace = event.composedPath().some(one => /nav-bar-(path|info|components|h1|h2)/.test(one.className || ""));
  if (isPlace) show(false);
});
`;
