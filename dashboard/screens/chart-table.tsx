import { useState } from "preact/hooks";
import { count, exactTime } from "../lib/format";
import { Table } from "../ui/table";

/** What was counted in an hour or in a day. */
export interface Bar {
  /** Unix seconds of its beginning, and of its end. */
  at: number;
  until: number;
  emitted: number;
  delivered: number;
  failed: number;
}

export interface ChartTableProps {
  bars: Bar[];
  hasEmitted: boolean;
  /** The deliveries of the time of a bar. */
  addressOf: (bar: Bar | undefined) => string;
}

/** What a chart draws, the latest first: for who can't see it, or has a keyboard alone. */
export function ChartTable({ bars, hasEmitted, addressOf }: ChartTableProps) {
  const [isOpen, setOpen] = useState(false);
  const number = (head: string, field: "emitted" | "delivered" | "failed") => ({
    ...{ head, isNumber: true },
    cell: (bar: Bar) => count(bar[field]),
  });
  return (
    <details class="tried" onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary>As a table</summary>
      {isOpen && (
        <Table
          rows={bars.map(bar => ({ ...bar, id: String(bar.at) })).reverse()}
          columns={[
            { head: "Since", cell: bar => <a href={addressOf(bar)}>{exactTime(bar.at * 1000)}</a> },
            ...(hasEmitted ? [number("Emitted", "emitted")] : []),
            number("Delivered", "delivered"),
            number("Failed", "failed"),
          ]}
        />
      )}
    </details>
  );
}
