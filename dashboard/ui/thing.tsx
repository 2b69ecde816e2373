import { useEffect } from "preact/hooks";
import { loadNames, nameOf } from "../api/names";
import { to } from "../lib/address";

const SCREENS: Record<string, string> = { dc: "/sources", wh: "/webhooks" };

/** A source, webhook, destination or workflow by its name, as a link to its screen; of a destination to its deliveries. */
export function Thing({ id }: { id: string }) {
  useEffect(loadNames, []);
  const [kind = ""] = id.split("_");
  const screen = SCREENS[kind];
  const isDestination = kind === "ds" || kind === "ac";
  const name = nameOf(id);
  if ((screen === undefined && !isDestination) || id.endsWith("*")) return <span title={id}>{name}</span>;
  return (
    <a
      class="above"
      href={isDestination ? to("/deliveries", { webhook_id: id }) : to(`${screen}/${id}`)}
      title={id}
    >
      {name}
    </a>
  );
}
