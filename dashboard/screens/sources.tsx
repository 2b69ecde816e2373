import type { Schemas } from "../api/client";
import { useFresh } from "../api/fresh";
import { usePaged } from "../api/paged";
import { inAccount } from "../api/session";
import { to } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { triggerOf } from "../lib/interfaces";
import { LinkButton, Time } from "../ui/basics";
import { BY_MOMENT, ListFilters, sortOf } from "../ui/list-filters";
import { ListScreen } from "../ui/list-screen";
import { NothingYet } from "../ui/states";
import type { Column } from "../ui/table";
import { FIRST_SOURCE, SourceBadge } from "./source-parts";
import { LAST_TIMES } from "./webhook-parts";

type Source = Schemas["Source"];

const FILTERS = ["q", "state"];
const STATES = { active: "Active", inactive: "Inactive" };

/** What the API takes of the filters and the order in the address. A state that is none is left out. */
const wanted = ({ q, state = "", sort }: Record<string, string>) => ({
  ...(q && { q }),
  ...(state in STATES && { active: state === "active" }),
  ...sortOf(sort, BY_MOMENT),
});

/** The sources of the account, which a search finds by name, id or endpoint. */
export function Sources() {
  const { filters, resource, read } = usePaged(
    (cursor, call, query) => inAccount().sources.list({ ...cursor, ...wanted(query) }, call),
    FILTERS,
  );
  useFresh(resource);
  return (
    <ListScreen
      title="Sources"
      about="Component code that runs on a timer, an HTTP request or another event, and emits events."
      actions={
        <LinkButton changes href={to("/gallery")} kind="primary" icon="plus">
          New source
        </LinkButton>
      }
      above={
        <ListFilters
          filters={filters}
          things="sources"
          placeholder="Name, id or endpoint address"
          states={STATES}
          orders={BY_MOMENT}
        />
      }
      resource={resource}
      read={read}
      filters={filters}
      empty={
        <NothingYet
          icon="zap"
          title="No sources yet"
          command={apiCommand("/sources", { method: "POST", body: FIRST_SOURCE })}
          action={
            <div class="row">
              <LinkButton changes href={to("/start")} kind="primary" icon="play">
                Watch a first event
              </LinkButton>
              <LinkButton changes href={to("/gallery")}>
                Choose a ready-made one
              </LinkButton>
              <LinkButton changes href={to("/sources/new")}>
                Write one here
              </LinkButton>
            </div>
          }
        >
          A source is a few lines of code that emit events. This command makes one with an HTTP endpoint:
        </NothingYet>
      }
      columns={COLUMNS}
    />
  );
}

const COLUMNS: Column<Source>[] = [
  {
    head: "Name",
    cell: source => (
      <>
        <a class="title" href={to(`/sources/${source.id}`)}>
          {source.name}
        </a>
        <div class="sub">{source.id}</div>
      </>
    ),
  },
  { head: "State", cell: source => <SourceBadge source={source} /> },
  { head: "Runs on", cell: source => <span class="muted">{triggerOf(source.configured_props)}</span> },
  ...LAST_TIMES,
  { head: "Changed", label: true, cell: source => <Time seconds={source.updated_at} /> },
];
