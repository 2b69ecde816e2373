import type { ComponentChildren } from "preact";

export interface Column<Row> {
  /** What stands above it; "" above buttons. */
  head: string;
  /** What stands before a cell where the table is a list: a text, or the head. Numbers have their head. */
  label?: string | true;
  isNumber?: boolean;
  class?: string;
  cell: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  columns: Column<Row>[];
  rows: Row[];
}

/** A table that is a list where it is narrow. */
export const Table = <Row extends { id: string }>({ columns, rows }: TableProps<Row>) => (
  <table class="table stacking">
    <thead>
      <tr>
        {columns.map(column => (
          <th key={column.head} class={classOf(column)}>
            {column.head || <span class="visually-hidden">Actions</span>}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map(row => (
        <tr key={row.id}>
          {columns.map(column => (
            <td key={column.head} class={column.class ?? classOf(column)} data-label={labelOf(column)}>
              {column.cell(row)}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);

const classOf = ({ isNumber }: Column<never>) => (isNumber ? "number" : undefined);

const labelOf = ({ head, label, isNumber = false }: Column<never>) =>
  label === true || isNumber ? head : label;
