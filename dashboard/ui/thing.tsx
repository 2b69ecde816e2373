import { useEffect } from "preact/hooks";
import { loadNames, nameOf } from "../api/names";
import { to } from "../lib/address";

const SCREENS: Record<string, string> = {
  dc: "/sources",
  wh: "/webhooks",
  ds: "/destinations",
  ac: "/destinations",
};

interface ThingProps {
  id: string;
  /** As its row has it; what has none of its own is shown by its address, which is read. */
  name?: string | null | undefined;
  /** Its name alone, inside what is a control already. */
  isPlain?: boolean;
}

/** A source, webhook, destination or workflow by its name, as a link to its screen. */
export function Thing({ id, name, isPlain = false }: ThingProps) {
  const isNamed = Boolean(name);
  useEffect(() => {
    if (!isNamed) loadNames();
  }, [isNamed]);
  const [kind = ""] = id.split("_");
  const screen = SCREENS[kind];
  const shown = name || nameOf(id);
  if (isPlain || screen === undefined || id.endsWith("*")) return <span title={id}>{shown}</span>;
  return (
    <a class="thing" href={to(`${screen}/${id}`)} title={id}>
      {shown}
    </a>
  );
}
