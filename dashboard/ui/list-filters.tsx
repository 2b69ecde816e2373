import type { ComponentChildren } from "preact";
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
  /** Further fields. */
  children?: ComponentChildren;
}

/** Fields that narrow a list by a text and by a state; both are in the address, as `q` and `state`. */
export const ListFilters = ({ filters, things, placeholder, states, children }: ListFiltersProps) => (
  <search class="filters">
    <span class="search">
      <Icon name="search" />
      <DraftInput
        class="input"
        type="search"
        aria-label={`Search ${things}`}
        placeholder={placeholder}
        maxLength={128}
        value={filters.query.q ?? ""}
        onCommit={field => filters.set({ q: field.value.trim() })}
      />
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
    {children}
  </search>
);
