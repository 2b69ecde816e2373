import type { ComponentChildren } from "preact";

interface TableProps<Row> {
  /** What stands above each column: "" above buttons, an object above numbers. */
  heads: (string | { number: string })[];
  rows: Row[];
  /** The cells of a row. */
  children: (row: Row) => ComponentChildren;
}

function Head({ head }: { head: string | { number: string } }) {
  if (typeof head !== "string") return <th class="number">{head.number}</th>;
  return <th>{head || <span class="visually-hidden">Actions</span>}</th>;
}

/** A table that is a list where it is narrow. */
export const Table = <Row extends { id: string }>({ heads, rows, children }: TableProps<Row>) => (
  <table class="table stacking">
    <thead>
      <tr>
        {heads.map((head, i) => (
          <Head key={i} head={head} />
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map(row => (
        <tr key={row.id}>{children(row)}</tr>
      ))}
    </tbody>
  </table>
);
