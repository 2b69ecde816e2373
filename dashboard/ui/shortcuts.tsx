import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "./basics";
import { Dialog } from "./dialog";
import { later } from "./later";

interface PaletteProps {
  /** Returns what was typed before it was there. */
  typedBefore: () => string;
  onClose: () => void;
}

const KEYS: [keys: string[], what: string][] = [
  [["Ctrl K", "/"], "Find anything"],
  [["Ctrl Enter"], "Run the code in the editor"],
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
    /** Typed after the palette was asked for: its code may still be on its way. Null while it is not asked for. */
    const early = useRef<string | null>(null);
    const ask = () => {
      early.current = "";
      setOpen("palette");
    };
    useEffect(() => {
      const onKeyDown = (event: KeyboardEvent) => {
        const isPalette =
          (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k";
        const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event);
        // One dialog at a time.
        if (document.querySelector("dialog[open]")) {
          if (isPalette) event.preventDefault();
          return;
        }
        if (early.current !== null) {
          if (isPlain && event.key.length === 1) early.current += event.key;
        } else if (isPalette || (isPlain && event.key === "/")) ask();
        else if (isPlain && event.key === "?") setOpen("keys");
        else return;
        event.preventDefault();
      };
      addEventListener("keydown", onKeyDown);
      return () => removeEventListener("keydown", onKeyDown);
    }, []);
    const close = () => {
      early.current = null;
      setOpen(null);
    };
    return (
      <>
        <Button icon="search" onClick={ask}>
          Find … <kbd>Ctrl K</kbd>
        </Button>
        {open === "palette" && <Palette typedBefore={() => early.current ?? ""} onClose={close} />}
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
