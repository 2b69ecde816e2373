import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { messageOf, type Schemas } from "../api/client";
import { useResource } from "../api/resource";
import { inAccount } from "../api/session";
import { to } from "../lib/address";
import { orgId } from "../lib/shown-account";
import { type Choice, Select } from "../ui/form";

type Connection = Schemas["Connection"];

/** More than these are chosen by their id. */
const MOST = 1000;

interface AccountFieldProps {
  label: string;
  hint: string | undefined;
  /** Slug of the app; undefined if the code names none. */
  app: string | undefined;
  value: unknown;
  /** Whether credentials are stored that no response shows. */
  isSet: boolean;
  fault: string | undefined;
  onChange: (value: unknown) => void;
  /** The field that takes credentials, or any id. */
  free: ComponentChildren;
}

/** In the address of the connections, for one of whatever app. */
export const ANY_APP = "any";
const TYPED = "typed";

/** An account of an app: one of the connections that there are, a new one, or credentials of its own. */
export function AccountField({ label, hint, app, value, isSet, fault, onChange, free }: AccountFieldProps) {
  const found = useResource(() => connectionsOf(app), [app, orgId.value]);
  // A connection is made in another tab: what is filled in here stays.
  useEffect(() => {
    addEventListener("focus", found.reload);
    return () => removeEventListener("focus", found.reload);
  }, [found.reload]);
  const chosen = idOf(value);
  const hasOther = value !== undefined && value !== null && chosen === null;
  const [isTyped, setTyped] = useState(hasOther);
  const rows = found.data ?? [];
  const choices: Choice[] = [
    { value: "", label: isSet ? "The credentials that are stored" : "Choose …" },
    ...rows.map(row => ({ value: row.id, label: nameOf(row, app) })),
    ...(chosen !== null && !rows.some(({ id }) => id === chosen) ? [{ value: chosen, label: chosen }] : []),
    { value: TYPED, label: "Other credentials …" },
  ];
  const choose = (id: string) => {
    setTyped(id === TYPED);
    if (id === TYPED) return;
    onChange(id === "" ? (isSet ? undefined : null) : { authProvisionId: id });
  };
  return (
    <>
      <Select
        label={label}
        value={isTyped ? TYPED : (chosen ?? "")}
        choices={choices}
        onChange={choose}
        fault={isTyped ? undefined : fault}
        hint={
          <>
            {hint && <>{hint} </>}
            {found.error !== undefined && <>The connections can't be loaded: {messageOf(found.error)} </>}
            {found.data && rows.length === 0 && (
              <>No connection{app === undefined ? "" : ` of ${app}`} yet. </>
            )}
            <a href={to("/connections", { connect: app ?? ANY_APP })} target="_blank" rel="noreferrer">
              Connect an account
            </a>
          </>
        }
      />
      {isTyped && free}
    </>
  );
}

async function connectionsOf(app: string | undefined): Promise<Connection[]> {
  const rows: Connection[] = [];
  let seen = 0;
  for await (const row of inAccount().connections.list({ limit: 100 })) {
    if (app === undefined || row.app === app) rows.push(row);
    seen += 1;
    if (seen === MOST) break;
  }
  return rows;
}

const nameOf = ({ id, name, app, health }: Connection, wanted: string | undefined): string =>
  `${name}${wanted === undefined ? `, ${app}` : ""} (${id})${health === "working" ? "" : `: ${health}`}`;

function idOf(value: unknown): string | null {
  const id = (value as { authProvisionId?: unknown } | null | undefined)?.authProvisionId;
  return typeof id === "string" ? id : null;
}
