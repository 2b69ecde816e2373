import { useState } from "preact/hooks";
import type { Schemas } from "../api/client";
import { copyText } from "../lib/copy";
import { counted } from "../lib/format";
import { Button } from "../ui/basics";
import { Check } from "../ui/form";
import { useSelection } from "../ui/selection";
import { toast } from "../ui/toasts";
import { type Change, ChangeDeliveries } from "./change-deliveries";

type Delivery = Schemas["Delivery"];

/** What a list of deliveries needs so that several are retried, cancelled or copied together. */
export function useDeliverySelection(shown: Delivery[] | undefined, onChange: () => void) {
  const selection = useSelection(shown);
  const [change, setChange] = useState<{ what: Change; of: Delivery[] } | null>(null);
  const { rows } = selection;
  const all = shown ?? [];
  const begin = (what: Change) => setChange({ what, of: rows });
  const bar = (
    <fieldset class="selection" aria-label="Selected deliveries">
      <Check
        label={rows.length === 0 ? "Select page" : `${rows.length} selected`}
        isOn={rows.length > 0 && rows.length === all.length}
        onChange={isOn =>
          selection.set(
            all.map(({ id }) => id),
            isOn,
          )
        }
      />
      {rows.length > 0 && (
        <>
          <Button isSmall icon="refresh" onClick={() => begin("retry")}>
            Retry …
          </Button>
          <Button isSmall icon="x" onClick={() => begin("cancel")}>
            Cancel …
          </Button>
          <Button
            isSmall
            icon="copy"
            onClick={async () => {
              if (await copyText(JSON.stringify(rows, null, 2)))
                toast(`${counted(rows.length, "delivery", "deliveries")} copied as JSON.`, "good");
            }}
          >
            Copy JSON
          </Button>
        </>
      )}
    </fieldset>
  );
  const dialog = change && (
    <ChangeDeliveries
      what={change.what}
      deliveries={change.of}
      onDone={() => {
        selection.clear();
        onChange();
      }}
      onClose={() => setChange(null)}
    />
  );
  return { selection, bar, dialog };
}
