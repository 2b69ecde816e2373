import type { CallOptions, Page as ListPage, Schemas } from "../api/client";
import { useFresh } from "../api/fresh";
import { readPages } from "../api/pages";
import { useResource } from "../api/resource";
import { inAccount } from "../api/session";
import { to, useFilters } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { count } from "../lib/format";
import { LinkButton, Notice, Time } from "../ui/basics";
import { Select } from "../ui/form";
import { Icon } from "../ui/icon";
import { ListScreen } from "../ui/list-screen";
import { NothingYet } from "../ui/states";
import type { Column } from "../ui/table";
import { FIRST_SOURCE, SourceBadge, triggerOf } from "./source-parts";

/** Whether a source has this text in its name, id or endpoint. */
const isFound = (source: Schemas["Source"], text: string) =>
  [source.name, source.name_slug, source.id, source.configured_props.http?.endpoint_url ?? ""].some(one =>
    one.toLowerCase().includes(text.toLowerCase()),
  );

/** Sources of all pages, up to a bound, as one page. */
async function searchSources(call: CallOptions): Promise<SourcePage> {
  const { rows, total } = await readPages(inAccount().sources.list({}, call));
  return { data: rows, page_info: { ...WHOLE, count: rows.length, total_count: total } };
}

type SourcePage = ListPage<Schemas["Source"]>;
const WHOLE = { start_cursor: null, end_cursor: null };

function onlyThose(page: SourcePage, isOurs: (one: Schemas["Source"]) => boolean): SourcePage {
  const data = page.data.filter(isOurs);
  return { data, page_info: { ...WHOLE, count: data.length, total_count: data.length } };
}

const STATES = [
  { value: "", label: "Any state" },
  { value: "active", label: "Active" },
  { value: "inactive", label: "Inactive" },
];

/** The sources of the account, which a search finds by name, id or endpoint. */
export function Sources() {
  const filters = useFilters(["q", "state"]);
  const { after, before, q = "", state = "" } = filters.query;
  // By a part of an endpoint's address, too, which the API does not search: all pages are read, and filtered here.
  const isSearch = filters.isFiltered;
  const resource = useResource(
    call => (isSearch ? searchSources(call) : inAccount().sources.list({ limit: 100, after, before }, call)),
    [after, before, isSearch],
  );
  useFresh(resource, { isOff: isSearch });
  const isOurs = (one: Schemas["Source"]) =>
    isFound(one, q) && (state === "" || one.active === (state === "active"));
  const shown = isSearch
    ? { ...resource, data: resource.data && onlyThose(resource.data, isOurs) }
    : resource;
  const unread =
    isSearch && resource.data ? resource.data.page_info.total_count - resource.data.data.length : 0;
  return (
    <ListScreen
      title="Sources"
      about="Component code that runs on a timer, an HTTP request or another event, and emits events."
      actions={
        <LinkButton changes href={to("/sources/new")} kind="primary" icon="plus">
          New source
        </LinkButton>
      }
      above={
        <>
          <search class="filters">
            <span class="search">
              <Icon name="search" />
              <input
                class="input"
                type="search"
                aria-label="Search sources"
                placeholder="Name, id or endpoint address"
                value={q}
                onInput={event => filters.set({ q: event.currentTarget.value })}
              />
            </span>
            <Select
              label="State"
              isBare
              value={state}
              choices={STATES}
              onChange={chosen => filters.set({ state: chosen })}
            />
          </search>
          {unread > 0 && (
            <Notice>
              Only the newest {count(resource.data?.data.length ?? 0)} sources were searched; {count(unread)}{" "}
              were not.
            </Notice>
          )}
        </>
      }
      resource={shown}
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

const COLUMNS: Column<Schemas["Source"]>[] = [
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
  { head: "Runs on", cell: source => <span class="muted">{triggerOf(source)}</span> },
  { head: "Changed", label: true, cell: source => <Time seconds={source.updated_at} /> },
];
