import { useState } from "preact/hooks";
import { TextField } from "./form";

/** From here on, what is sent again is confirmed by typing how much it is. */
const MANY = 100;

/** A field in which the number of what is done at once is typed, where it is large; `isDone` once it is. */
export function useCountCheck(count: number) {
  const [typed, setTyped] = useState("");
  if (count < MANY) return { isDone: true, field: null };
  return {
    isDone: typed.replace(/[\s.,’']/g, "") === String(count),
    field: (
      <TextField
        label={`Type ${count} to confirm`}
        autocomplete="off"
        value={typed}
        onInput={setTyped}
        hint="What was sent can't be called back."
      />
    ),
  };
}
