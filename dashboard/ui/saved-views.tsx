import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { BASE, to, type useFilters } from "../lib/address";
import { readViews, type SavedView, writeViews } from "../lib/saved-views";
import { orgId } from "../lib/shown-account";
import { Button } from "./basics";

const views = signal<SavedView[]>(readViews());

function keep(next: SavedView[]): void {
  views.value = next;
  writeViews(next);
}

const textOf = (view: Record<string, string>) => new URLSearchParams(Object.entries(view).sort()).toString();

/** The filters of this list that were saved under a name, as links; and what saves the present ones. They are kept by this browser. */
export function SavedViews({ filters }: { filters: ReturnType<typeof useFilters> }) {
  const { path } = useLocation();
  const [isNaming, setNaming] = useState(false);
  const org = orgId.value ?? "";
  const shown = textOf(filters.view);
  const ours = views.value.filter(view => view.path === path && view.org === org);
  const isSaved = ours.some(({ query }) => textOf(query) === shown);
  const canSave = shown !== "" && !isSaved;
  if (ours.length === 0 && !canSave) return null;
  const save = (name: string) => {
    keep([
      ...views.value.filter(view => !ours.includes(view) || view.name !== name),
      { path, org, name, query: filters.view },
    ]);
    setNaming(false);
  };
  return (
    <nav class="views" aria-label="Saved views">
      {ours.map(view => (
        <span class="view" key={view.name}>
          <a
            href={to(path.slice(BASE.length) || "/", view.query)}
            aria-current={textOf(view.query) === shown ? "page" : undefined}
          >
            {view.name}
          </a>
          <Button
            isSmall
            kind="ghost"
            icon="x"
            label={`Delete the view ${view.name}`}
            onClick={() => keep(views.value.filter(one => one !== view))}
          />
        </span>
      ))}
      {canSave &&
        (isNaming ? (
          <NameField onName={save} onCancel={() => setNaming(false)} />
        ) : (
          <Button isSmall kind="ghost" icon="plus" onClick={() => setNaming(true)}>
            Save this view
          </Button>
        ))}
    </nav>
  );
}

const NameField = ({ onName, onCancel }: { onName: (name: string) => void; onCancel: () => void }) => (
  <form
    class="row"
    onSubmit={event => {
      event.preventDefault();
      const name = String(new FormData(event.currentTarget).get("name") ?? "").trim();
      if (name !== "") onName(name);
    }}
    onKeyDown={event => event.key === "Escape" && onCancel()}
  >
    <input
      class="input"
      name="name"
      aria-label="Name of the view"
      placeholder="Name, for this browser"
      maxLength={60}
      required
      autocomplete="off"
      // It comes by a press of a button, in its place.
      ref={field => field?.focus()}
    />
    <Button isSmall type="submit">
      Save
    </Button>
  </form>
);
