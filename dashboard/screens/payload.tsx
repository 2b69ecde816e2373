import { useState } from "preact/hooks";
import { copyText } from "../lib/copy";
import { download } from "../lib/download";
import { Button } from "../ui/basics";
import { JsonTree } from "../ui/json-tree";
import { toast } from "../ui/toasts";

interface PayloadProps {
  value: unknown;
  /** The id of what has it: the name of the file in which it is saved. */
  of: string;
}

/** What an event or a delivery carries: as a tree or as its JSON, to be copied or saved. */
export function Payload({ value, of }: PayloadProps) {
  const [isRaw, setRaw] = useState(false);
  const text = () => JSON.stringify(value, null, 2);
  return (
    <div class="stack tight">
      <div class="row">
        <Button isSmall icon="code" onClick={() => setRaw(!isRaw)}>
          {isRaw ? "Tree" : "Raw"}
        </Button>
        <Button
          isSmall
          icon="copy"
          onClick={async () => {
            if (await copyText(text())) toast("The payload is copied.", "good");
          }}
        >
          Copy payload
        </Button>
        <Button isSmall icon="down" onClick={() => download(`${of}.json`, text())}>
          Save
        </Button>
      </div>
      {isRaw ? (
        <section tabIndex={0} aria-label="JSON" class="response">
          <pre>{text()}</pre>
        </section>
      ) : (
        <JsonTree value={value} />
      )}
    </div>
  );
}
