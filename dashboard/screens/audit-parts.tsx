import { to } from "../lib/address";
import { Copyable } from "../ui/basics";

/** The screen with the changes of one thing. */
const changesOf = (id: string): string => to("/audit-log", { thing_id: id });

/** The id of the thing that a page is about, and who has changed it. */
export const IdOfThing = ({ id }: { id: string }) => (
  <span class="row">
    <Copyable text={id} label="id" />
    <a href={changesOf(id)}>Who changed this?</a>
  </span>
);
