import { signal } from "@preact/signals";
import { Icon } from "./icon";

type Tone = "good" | "bad" | "info";

const shown = signal<{ id: number; text: string; tone: Tone }[]>([]);
const SHOWN_MS = 5000;
let last = 0;

/** Shows a short message for some seconds. */
export function toast(text: string, tone: Tone = "info"): void {
  const id = ++last;
  shown.value = [...shown.value.slice(-3), { id, text, tone }];
  setTimeout(() => {
    shown.value = shown.value.filter(one => one.id !== id);
  }, SHOWN_MS);
}

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {shown.value.map(({ id, text, tone }) => (
      <div key={id} class={`toast ${tone}`}>
        <Icon name={tone === "bad" ? "alert" : "check"} />
        <span>{text}</span>
      </div>
    ))}
  </div>
);
