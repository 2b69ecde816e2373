import { useEffect } from "preact/hooks";
import { loadNames, nameOf } from "../api/names";
import { to } from "../lib/address";

const SCREENS: Record<string, string> = {
  dc: "/sources",
  wh: "/webhooks",
  ds: "/destinations",
  ac: "/destinations",
  ms: "/agents",
  sub: "/subscriptions",
  sc: "/components",
  dlv: "/deliveries",
  run: "/runs",
};

/** The address of the screen of a thing, by its id; undefined for what has none. A connection is one of a list. */
export function screenOf(id: string): string | undefined {
  const [kind = ""] = id.split("_");
  if (kind === "apn") return to("/connections");
  const screen = SCREENS[kind];
  return screen === undefined || id.endsWith("*") ? undefined : to(`${screen}/${id}`);
}

interface ThingProps {
  id: string;
  /** As its row has it; what has none of its own is shown by its address, which is read. */
  name?: string | null | undefined;
  /** Its name alone, inside what is a control already. */
  isPlain?: boolean;
}

/** A source, webhook, destination or workflow by its name, as a link to its screen if it has one. */
export function Thing({ id, name, isPlain = false }: ThingProps) {
  const isNamed = Boolean(name);
  useEffect(() => {
    if (!isNamed) loadNames();
  }, [isNamed]);
  const screen = screenOf(id);
  const shown = name || nameOf(id);
  if (isPlain || screen === undefined) return <span title={id}>{shown}</span>;
  return (
    <a class="thing" href={screen} title={id}>
      {shown}
    </a>
  );
}
