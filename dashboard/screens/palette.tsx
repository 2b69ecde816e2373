import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { headwater, messageOf, type Schemas } from "../api/client";
import { to } from "../lib/address";
import { ago } from "../lib/format";
import { orgId } from "../lib/shown-account";
import { Badge } from "../ui/basics";
import { Dialog } from "../ui/dialog";
import { Icon, type IconName } from "../ui/icon";
import { NAVIGATION } from "../ui/navigation";
import { screenOf } from "../ui/thing";
import { leaveThen } from "../ui/unsaved";

type Hit = Schemas["SearchHit"];

/** What is chosen with Enter. */
interface Choice {
  key: string;
  icon: IconName;
  title: string;
  detail: string;
  state?: string | null;
  at?: number | null;
  address: string;
}

/** What is found by its title besides the screens of the navigation. */
const MORE: [title: string, address: string, icon: IconName][] = [
  ["New source: the gallery", "/gallery", "plus"],
  ["New source: write it", "/sources/new", "code"],
  ["Failed deliveries", "/deliveries?state=failed", "send"],
  ["Past replays", "/replays", "refresh"],
];
const SCREENS = [
  ...NAVIGATION.flatMap(({ entries }) =>
    entries.map(({ label, path, icon }) => [label, path, icon] as const),
  ),
  ...MORE,
];

const ICONS: Partial<Record<Hit["kind"], IconName>> = {
  source: "zap",
  webhook: "webhook",
  destination: "database",
  workflow: "code",
  component: "box",
  connection: "link",
  subscription: "route",
  auto_subscription: "route",
  delivery: "send",
  event: "radio",
  run: "play",
  replay: "refresh",
  api_key: "key",
};

function addressOf({ kind, id, emitter_id }: Hit): string {
  switch (kind) {
    case "workflow":
      return to("/workflows", { q: id });
    case "auto_subscription":
      return to("/subscriptions");
    case "event":
      return to(`/events/${emitter_id}/${id}`);
    case "replay":
      return to("/replays");
    case "api_key":
      return to("/keys");
    default:
      return screenOf(id) ?? to("/");
  }
}

const choiceOf = (hit: Hit): Choice => ({
  key: `${hit.kind} ${hit.id}`,
  icon: ICONS[hit.kind] ?? "search",
  title: hit.name ?? hit.id,
  detail: [hit.kind.replace("_", " "), hit.detail, hit.name === null ? null : hit.id]
    .filter(Boolean)
    .join(" · "),
  state: hit.state,
  at: hit.at_ms,
  address: addressOf(hit),
});

const screensWith = (text: string): Choice[] =>
  SCREENS.filter(([title]) => title.toLowerCase().includes(text.toLowerCase())).map(([title, path, icon]) => {
    const [name = "", query] = path.split("?");
    return {
      key: path,
      icon,
      title,
      detail: "screen",
      address: to(name, Object.fromEntries(new URLSearchParams(query))),
    };
  });

/** A typist is not answered at every letter. */
const PAUSE_MS = 120;

/** What was found for a text; null while nothing was looked for. */
function useSearch(text: string) {
  const [found, setFound] = useState<{
    text: string;
    hits: Hit[];
    isPartial: boolean;
    fault?: string;
  } | null>(null);
  useEffect(() => {
    if (text === "") return setFound(null);
    const abort = new AbortController();
    const timer = setTimeout(() => {
      const query = { q: text, ...(orgId.value && { org_id: orgId.value }) };
      headwater.request("get", "/search", { query }, { signal: abort.signal, maxRetries: 0 }).then(
        ({ hits, partial }) => setFound({ text, hits, isPartial: partial }),
        error => {
          if (!abort.signal.aborted) setFound({ text, hits: [], isPartial: false, fault: messageOf(error) });
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);
  return found;
}

interface PaletteProps {
  /** Returns what was typed before the palette was there. */
  typedBefore: () => string;
  onClose: () => void;
}

/** Finds anything by its id, its name, its address or a word in an event, and goes there. Opened with Ctrl K or /. */
export function Palette({ typedBefore, onClose }: PaletteProps) {
  const { route } = useLocation();
  const list = useId();
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const text = typed.trim();
  const found = useSearch(text);
  const choices = [...(text === "" ? [] : (found?.hits ?? []).map(choiceOf)), ...screensWith(text)];
  const chosen = Math.min(at, choices.length - 1);
  const isLooking = text !== "" && found?.text !== text;
  useEffect(() => {
    // The dialog is open by now: what is typed from here on goes to the field.
    setTyped(typedBefore());
    field.current?.focus();
  }, []);
  useEffect(() => {
    document.getElementById(`${list}-${chosen}`)?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const go = (choice: Choice | undefined) => {
    if (!choice) return;
    onClose();
    leaveThen(() => route(choice.address));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const move = moves[event.key];
    if (move !== undefined && choices.length > 0) {
      event.preventDefault();
      setAt((chosen + move + choices.length) % choices.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      go(choices[chosen]);
    }
  };
  return (
    <Dialog isQuestion title="Find anything" onClose={onClose}>
      <input
        ref={field}
        class="input"
        type="text"
        role="combobox"
        aria-label="An id, a name, an address, or a word of an event"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={choices.length > 0 ? `${list}-${chosen}` : undefined}
        placeholder="An id, a name, an address, or a word of an event"
        autocomplete="off"
        spellcheck={false}
        maxLength={200}
        value={typed}
        onInput={event => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div class="palette" id={list} role="listbox" aria-label="Found">
        {choices.map((choice, i) => (
          <a
            key={choice.key}
            id={`${list}-${i}`}
            role="option"
            aria-selected={i === chosen}
            // The field keeps the focus.
            tabIndex={-1}
            href={choice.address}
            onClick={event => {
              if (event.ctrlKey || event.metaKey || event.shiftKey) return;
              event.preventDefault();
              go(choice);
            }}
            onPointerMove={() => i !== chosen && setAt(i)}
          >
            <Icon name={choice.icon} />
            <span class="what">
              <span class="title">{choice.title}</span>
              <span class="sub">{choice.detail}</span>
            </span>
            {choice.state && <Badge>{choice.state}</Badge>}
            {choice.at && <span class="sub nowrap">{ago(choice.at, Date.now())}</span>}
          </a>
        ))}
      </div>
      <p class="sub" role="status">
        {isLooking && "Looking …"}
        {!isLooking && found?.fault}
        {!isLooking &&
          !found?.fault &&
          text !== "" &&
          choices.length === 0 &&
          "Nothing has this id, name, address or word."}
        {!isLooking && found?.isPartial && "There is more than is shown: type more of it."}
      </p>
      <p class="sub">
        <kbd>↑</kbd> <kbd>↓</kbd> choose · <kbd>Enter</kbd> go · <kbd>Esc</kbd> close
      </p>
    </Dialog>
  );
}
