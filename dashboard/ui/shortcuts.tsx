import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "./basics";
import { Dialog } from "./dialog";
import { later } from "./later";

interface PaletteProps {
  onClose: () => void;
}

const KEYS: [keys: string[], what: string][] = [
  [["Ctrl K", "/"], "Find anything"],
  [["?"], "Show this"],
  [["Esc"], "Close what is open"],
];

/** A key that is typed into a field is text. */
const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));

/** The button that opens the palette, and the keys that do; `load` returns the palette. */
export function shortcutsWith(load: () => Promise<ComponentType<PaletteProps>>) {
  const Palette = later<PaletteProps>(load);
  return function Shortcuts() {
    const [open, setOpen] = useState<"palette" | "keys" | null>(null);
    useEffect(() => {
      const onKeyDown = (event: KeyboardEvent) => {
        const isPalette =
          (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k";
        const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event);
        // One dialog at a time.
        if (document.querySelector("dialog[open]")) return isPalette && event.preventDefault();
        if (isPalette || (isPlain && event.key === "/")) setOpen("palette");
        else if (isPlain && event.key === "?") setOpen("keys");
        else return;
        event.preventDefault();
      };
      addEventListener("keydown", onKeyDown);
      return () => removeEventListener("keydown", onKeyDown);
    }, []);
    const close = () => setOpen(null);
    return (
      <>
        <Button icon="search" onClick={() => setOpen("palette")}>
          Find … <kbd>Ctrl K</kbd>
        </Button>
        {open === "palette" && <Palette onClose={close} />}
        {open === "keys" && (
          <Dialog isQuestion title="Keys" onClose={close}>
            <dl class="keys">
              {KEYS.map(([keys, what]) => (
                <div key={what} class="row">
                  <dt>
                    {keys.map(key => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
            <div class="row end">
              <Button onClick={close}>Close</Button>
            </div>
          </Dialog>
        )}
      </>
    );
  };
}
