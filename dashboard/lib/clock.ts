import { signal } from "@preact/signals";

/** The time to which "5 min ago" refers; moves only while the tab is visible. */
export const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 5000);
