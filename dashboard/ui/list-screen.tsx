import type { ComponentChildren } from "preact";
import { Page } from "./basics";
import { List, type ListProps } from "./list";
import { SavedViews } from "./saved-views";

interface ListScreenProps<Row> extends Omit<ListProps<Row>, "things"> {
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
    <SavedViews filters={list.filters} />
    <section class="card">
      {head}
      <List things={title.toLowerCase()} {...list} />
    </section>
    {children}
  </Page>
);
