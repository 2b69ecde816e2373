import { useEffect, useRef } from "preact/hooks";

/** Ctrl Enter runs, wherever the focus is on the screen. */
export function useRunKey(run: () => unknown): void {
  // The next key may come before an effect.
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isRun = event.key === "Enter" && (event.ctrlKey || event.metaKey);
      // A dialog has the keys for itself.
      if (!isRun || event.repeat || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      void latest.current();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}
