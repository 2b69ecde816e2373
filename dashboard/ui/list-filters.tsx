import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { useFilters } from "../lib/address";
import { DraftInput } from "./draft-input";
import { Select } from "./form";
import { Icon } from "./icon";

interface ListFiltersProps {
  filters: ReturnType<typeof useFilters>;
  /** What is listed, such as `webhooks`. */
  things: string;
  /** What of a thing may have the text. */
  placeholder: string;
  /** The states of a thing and how they are called; none if the list has no such filter. */
  states?: Record<string, string>;
  /** The orders that the API has of the list besides that of the ids, and how they are called. */
  orders?: Record<string, string>;
  /** Further fields. */
  children?: ComponentChildren;
}

/** The orders of things whose list the API sorts by what last happened to them. */
export const BY_MOMENT = {
  last_event: "Last event first",
  last_success: "Last success first",
  last_error: "Last error first",
};

/** What the API takes of the order in the address; one that is none is left out. */
export const sortOf = <Name extends string>(
  sort: string | undefined,
  orders: Record<Name, string>,
): { sort?: Name } => (sort !== undefined && Object.hasOwn(orders, sort) ? { sort: sort as Name } : {});

/** Fields that narrow a list by a text and by a state, and that sort it; all are in the address, as `q`, `state` and `sort`. */
export const ListFilters = ({ filters, things, placeholder, states, orders, children }: ListFiltersProps) => (
  <search class="filters">
    <span class="search">
      <Icon name="search" />
      <Text filters={filters} aria-label={`Search ${things}`} placeholder={placeholder} />
    </span>
    {states && (
      <Select
        label="State"
        isBare
        value={filters.query.state ?? ""}
        choices={[
          { value: "", label: "Any state" },
          ...Object.entries(states).map(([value, label]) => ({ value, label })),
        ]}
        onChange={state => filters.set({ state })}
      />
    )}
    {orders && (
      <Select
        label="Order"
        isBare
        value={filters.query.sort ?? ""}
        choices={[
          { value: "", label: "Newest first" },
          ...Object.entries(orders).map(([value, label]) => ({ value, label })),
        ]}
        onChange={sort => filters.set({ sort })}
      />
    )}
    {children}
  </search>
);

/** A pause in typing that is long enough to search. */
const TYPED_MS = 350;

interface TextProps {
  filters: ListFiltersProps["filters"];
  "aria-label": string;
  placeholder: string;
}

/** The text that is looked for, as it is typed. */
function Text({ filters, ...attributes }: TextProps) {
  const latest = useRef(filters);
  latest.current = filters;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <DraftInput
      {...attributes}
      class="input"
      type="search"
      maxLength={128}
      value={filters.query.q ?? ""}
      onType={field => {
        clearTimeout(timer.current);
        timer.current = setTimeout(() => latest.current.type({ q: field.value }), TYPED_MS);
      }}
      onCommit={field => {
        clearTimeout(timer.current);
        filters.set({ q: field.value.trim() });
      }}
    />
  );
}
