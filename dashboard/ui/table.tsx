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

/** Which rows are selected, by their ids. */
export interface Selection {
  has: (id: string) => boolean;
  set: (ids: string[], isOn: boolean) => void;
}

interface TableProps<Row> {
  columns: Column<Row>[];
  rows: Row[];
  selection?: Selection | undefined;
}

/** A table that is a list where it is narrow. */
export const Table = <Row extends { id: string }>({ columns, rows, selection }: TableProps<Row>) => (
  <table class="table stacking">
    <thead>
      <tr>
        {selection && (
          <th class="pick">
            <span class="visually-hidden">Selected</span>
          </th>
        )}
        {columns.map(column => (
          <th key={column.head} class={classOf(column)}>
            {column.head || <span class="visually-hidden">Actions</span>}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map(row => (
        <tr key={row.id} onClick={followLink} class={selection?.has(row.id) ? "selected" : undefined}>
          {selection && (
            <td class="pick">
              <input
                type="checkbox"
                aria-label={`Select ${row.id}`}
                checked={selection.has(row.id)}
                onChange={event => selection.set([row.id], event.currentTarget.checked)}
              />
            </td>
          )}
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

/** As long as a second click may come, which selects a word. */
const SECOND_CLICK_MS = 220;
let following: ReturnType<typeof setTimeout> | undefined;

/** A row follows the link of its title, wherever it is clicked; not while its text is selected, and not beside what is a control already. */
function followLink(event: MouseEvent): void {
  clearTimeout(following);
  const { target, currentTarget, detail } = event;
  if (!(target instanceof Element) || !(currentTarget instanceof Element) || detail > 1) return;
  if (target.closest("a, button, input, label, .pick") !== null) return;
  const link = currentTarget.querySelector<HTMLAnchorElement>("a.title");
  const isApart = event.ctrlKey || event.metaKey;
  following = setTimeout(() => {
    if (!link?.isConnected || getSelection()?.isCollapsed === false) return;
    if (isApart) window.open(link.href, "_blank", "noopener");
    else link.click();
  }, SECOND_CLICK_MS);
}

const classOf = ({ isNumber }: Column<never>) => (isNumber ? "number" : undefined);

const labelOf = ({ head, label, isNumber = false }: Column<never>) =>
  label === true || isNumber ? head : label;
