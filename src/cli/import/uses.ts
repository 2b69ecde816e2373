import { APP_SLUG } from "../../lib/slug.ts";
import type { Declaration } from "../apply/schema.ts";
import type { Placed } from "./components.ts";
import type { Hand } from "./hands.ts";
import { Names } from "./names.ts";
import { declareProps } from "./props.ts";
import type { Account, ShownUse } from "./shown.ts";

/** A source or an action: its id, its names, and its use of a component. */
interface Using {
  id: string;
  texts: (string | null | undefined)[];
  used: ShownUse;
}

/** What the declaration of an account has, as far as a use of a component adds to it. */
interface Declared {
  names: Names;
  connections: NonNullable<Declaration["connections"]>;
  hands: Hand[];
  /** Chooses what the file calls a thing, from its texts. */
  nameOf: (id: string, texts: Using["texts"]) => string;
}

/** Declares how sources and actions use their components: code, props, and the connections that the props name. */
export class ComponentUses {
  readonly #account: Account;
  /** Where the code of the components is. */
  readonly #placed: ReadonlyMap<string, Placed>;
  readonly #declared: Declared;
  readonly #connectionNames = new Names();
  /** What the file calls connections, by their ids on the other server. */
  readonly #connectionsById = new Map<string, string>();

  constructor(account: Account, placed: ReadonlyMap<string, Placed>, declared: Declared) {
    this.#account = account;
    this.#placed = placed;
    this.#declared = declared;
  }

  /** Names what has a component, and returns what the file says of that; null for one whose code is not there. */
  declare({ id, texts, used }: Using) {
    const { names, hands, nameOf } = this.#declared;
    const component = this.#account.components.get(used.component_id ?? "");
    const placed = this.#placed.get(used.component_id ?? "") ?? { problem: "it has no component" };
    if (!component || "problem" in placed) {
      const problem = "problem" in placed ? placed.problem : "its component is not shown";
      const text = `\`${texts.find(text => text) ?? id}\`: ${problem}`;
      hands.push({ kind: "source", thing: id, text });
      return null;
    }
    const declared = nameOf(id, [...texts, component.name]);
    const { props, hands: ofProps } = declareProps(used, component, {
      names,
      thing: declared,
      connectionOf: (connection, app) => this.#connectionOf(connection, app),
    });
    hands.push(...ofProps);
    return { declared, fields: { file: placed.file, ...(Object.keys(props).length > 0 && { props }) } };
  }

  /** Each is declared once it is used; without its app it can't be. */
  #connectionOf(id: string, usedApp: string | null): string | null {
    const { names, connections, hands } = this.#declared;
    const known = this.#connectionsById.get(id);
    if (known !== undefined) return known;
    const shown = this.#account.connections?.find(one => one.id === id);
    const app = shown?.app ?? usedApp;
    if (app === null || !new RegExp(APP_SLUG).test(app)) return null;
    const declared = this.#connectionNames.choose([shown?.name, app], "connection");
    this.#connectionsById.set(id, declared);
    const given = (shown?.kind === "keys" && shown.field_names) || [];
    const fields = given.map(field => [field, `\${${names.variable(declared, field)}}`] as const);
    connections[declared] = {
      app,
      ...(fields.length > 0 && { fields: Object.fromEntries(fields) }),
    };
    const need = fields
      .map(([field, variable]) => `\`${variable.slice(2, -1)}\` is its \`${field}\``)
      .join(", ");
    const otherwise = `\`headwater connection connect ${app}\`, or \`fields\``;
    hands.push({ kind: "connection", thing: declared, text: `an account of ${app}; ${need || otherwise}` });
    return declared;
  }
}
