import { useEffect } from "preact/hooks";
import { loadNames, nameOf } from "../api/names";
import { to } from "../lib/address";

const SCREENS: Record<string, string> = {
  dc: "/sources",
  wh: "/webhooks",
  ds: "/destinations",
  ac: "/destinations",
};

/** A source, webhook, destination or workflow by its name, as a link to its screen. */
export function Thing({ id }: { id: string }) {
  useEffect(loadNames, []);
  const [kind = ""] = id.split("_");
  const screen = SCREENS[kind];
  const name = nameOf(id);
  if (screen === undefined || id.endsWith("*")) return <span title={id}>{name}</span>;
  return (
    <a class="above" href={to(`${screen}/${id}`)} title={id}>
      {name}
    </a>
  );
}
