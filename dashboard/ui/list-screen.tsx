import type { ComponentChildren } from "preact";
import { Page } from "./basics";
import { List, type ListProps } from "./list";

interface ListScreenProps<Row> extends ListProps<Row> {
  title: string;
  about: string;
  actions?: ComponentChildren;
  /** Fields that narrow the list, above its card. */
  above?: ComponentChildren;
  /** The head of its card. */
  head?: ComponentChildren;
  /** Dialogs, and cards below the list. */
  children?: ComponentChildren;
}

/** A screen that is one list of the account. */
export const ListScreen = <Row extends { id: string }>({
  title,
  about,
  actions,
  above,
  head,
  children,
  ...list
}: ListScreenProps<Row>) => (
  <Page title={title} about={about} actions={actions}>
    {above}
    <section class="card">
      {head}
      <List {...list} />
    </section>
    {children}
  </Page>
);
