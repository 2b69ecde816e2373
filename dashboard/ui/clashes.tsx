import type { Edits } from "../api/edits";
import { Button, Notice } from "./basics";

const MOST_CHARS = 200;

const textOf = (value: unknown): string =>
  value === undefined || value === null || value === ""
    ? "empty"
    : (typeof value === "string" ? value : JSON.stringify(value)).slice(0, MOST_CHARS);

interface ClashesProps<Thing> {
  edits: Edits<Thing>;
  stored: Thing;
  /** What a field is called. */
  labelOf: (name: string) => string;
}

/** Which changed fields were also changed elsewhere, and which of both values is to stay. */
export const Clashes = <Thing,>({ edits, stored, labelOf }: ClashesProps<Thing>) => (
  <>
    {edits.clashes(stored).map(({ name, now }) => (
      <Notice key={name} tone="bad">
        <div class="spread">
          <span>
            <strong>{labelOf(name)}</strong> was changed elsewhere since you began. It is now:{" "}
            <code>{textOf(now)}</code>
          </span>
          <span class="row">
            <Button isSmall onClick={() => edits.drop(name)}>
              Load it
            </Button>
            <Button isSmall onClick={() => edits.keep(name)}>
              Keep mine
            </Button>
          </span>
        </div>
      </Notice>
    ))}
  </>
);
