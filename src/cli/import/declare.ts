import { BODY_FORMATS } from "../../lib/body-formats.ts";
import { ACCOUNT, type Declaration, KIND_NAMES } from "../apply/schema.ts";
import type { Placed } from "./components.ts";
import type { Hand, HandKind } from "./hands.ts";
import { Names } from "./names.ts";
import { literal } from "./props.ts";
import { declareSettings, deliveryOf } from "./settings.ts";
import type { Account, ShownSubscription, ShownWebhook } from "./shown.ts";
import { ComponentUses } from "./uses.ts";

/** What an account becomes: the file of `apply`, the code of functions, and what a person has to see to. */
export interface Imported {
  declaration: Declaration;
  /** Texts by their paths below the file's folder. */
  functions: Map<string, string>;
  hands: Hand[];
}

/** Builds the declaration of what an account has; `placed` says where the code of its components is. */
export function declareAccount(
  account: Account,
  placed: ReadonlyMap<string, Placed>,
  project: string,
): Imported {
  const declaring = new Declaring(account, placed);
  declaring.workflows();
  declaring.sources();
  declaring.webhooks();
  declaring.destinations();
  declaring.subscriptions();
  declaring.others();
  const { parts, functions, hands } = declaring;
  const filled = Object.entries(parts).filter(([, things]) => Object.keys(things).length > 0);
  return { declaration: { project, ...Object.fromEntries(filled) }, functions, hands };
}

type Parts = { [Part in Exclude<keyof Declaration, "project">]-?: NonNullable<Declaration[Part]> };

/** A file of `apply` has no longer ones. */
const MAX_URL_CHARS = 2048;

class Declaring {
  readonly parts: Parts = {
    connections: {},
    workflows: {},
    sources: {},
    webhooks: {},
    destinations: {},
    actions: {},
    subscriptions: [],
  };
  readonly functions = new Map<string, string>();
  readonly hands: Hand[] = [];
  readonly #account: Account;
  readonly #uses: ComponentUses;
  /** One for all parts: an end of a subscription is looked for in each of them. */
  readonly #names = new Names();
  /** What the file calls things, by their ids on the other server. */
  readonly #byId = new Map<string, string>();

  constructor(account: Account, placed: ReadonlyMap<string, Placed>) {
    this.#account = account;
    const { parts, hands } = this;
    this.#uses = new ComponentUses(account, placed, {
      ...{ names: this.#names, connections: parts.connections, hands },
      nameOf: (id, texts) => this.#nameOf(id, texts, "source"),
    });
  }

  #hand(kind: HandKind, thing: string, text: string): void {
    this.hands.push({ kind, thing, text });
  }

  /** A workflow of the other server emits what a program publishes here. Without a list, those that something subscribes to are known. */
  workflows(): void {
    const { workflows, subscriptions } = this.#account;
    const emitters = new Set(
      subscriptions.map(({ emitter_id }) => emitter_id).filter(id => /^p_[^*]/.test(id)),
    );
    const known = workflows ?? [...emitters].map(id => ({ id, name: null }));
    for (const { id, name = null } of known) {
      const declared = this.#nameOf(id, [name, id], "workflow");
      this.parts.workflows[declared] = {};
      this.#hand(
        "workflow",
        declared,
        `was \`${id}\`: a program publishes its events, \`headwater publish\``,
      );
    }
  }

  sources(): void {
    for (const source of this.#account.sources) {
      const { id, name, name_slug, active, verify } = source;
      const component = this.#uses.declare({ id, texts: [name_slug, name], used: source });
      if (!component) continue;
      const { declared, fields } = component;
      const again = "verifies who sends: set `verify` and its secrets again (docs/verify.md)";
      if (verify) this.#hand("other", declared, again);
      this.parts.sources[declared] = { ...fields, ...(active === false && { active }) };
    }
  }

  webhooks(): void {
    const { webhooks } = this.#account;
    if (webhooks === null) this.#hand("other", "webhooks", "the server does not list them");
    for (const webhook of webhooks ?? []) {
      const { id, name, url, active } = webhook;
      if (!url || url.length > MAX_URL_CHARS || !URL.canParse(url)) {
        this.#hand("other", id, `the webhook \`${name ?? id}\` has no address that can be used`);
        continue;
      }
      const declared = this.#nameOf(id, [name, new URL(url).hostname], "webhook");
      const headers = (webhook.header_names ?? []).map(header => {
        const variable = this.#names.variable(declared, header);
        this.#hand("secret", declared, `\`${variable}\` is its header \`${header}\``);
        return [header, `\${${variable}}`] as const;
      });
      this.parts.webhooks[declared] = {
        url: literal(url),
        ...deliveryOf(webhook),
        ...formatOf(webhook),
        ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
        ...(active === false && { active }),
      };
      this.#hand("signing", declared, url);
    }
  }

  destinations(): void {
    for (const destination of this.#account.destinations ?? []) {
      const { id, name, kind, action, active } = destination;
      const delivery = { ...deliveryOf(destination), ...(active === false && { active }) };
      const component = action && this.#uses.declare({ id, texts: [name], used: action });
      if (component) this.parts.actions[component.declared] = { ...component.fields, ...delivery };
      const known = KIND_NAMES.find(one => one === kind);
      const shown = known && destination[known];
      if (known && shown) {
        const declared = this.#nameOf(id, [name], "destination");
        const { settings, hands } = declareSettings(known, shown, { names: this.#names, thing: declared });
        this.hands.push(...hands);
        this.parts.destinations[declared] = { [known]: settings, ...delivery };
      } else if (!action) {
        this.#hand("other", id, `the destination \`${name ?? id}\` is of a kind that is not known, ${kind}`);
      }
    }
  }

  subscriptions(): void {
    const seen = new Set<string>();
    for (const subscription of this.#account.subscriptions) {
      const { id, emitter_id, listener_id, event_name, filter } = subscription;
      const from = this.#emitterOf(emitter_id);
      const to = this.#byId.get(listener_id);
      const key = JSON.stringify([from, to, event_name ?? ""]);
      if (from === undefined || to === undefined) {
        const missing = from === undefined ? emitter_id : listener_id;
        this.#hand(
          "subscription",
          id,
          `from \`${emitter_id}\` to \`${listener_id}\`: ${missing} is not in the file`,
        );
      } else if (!seen.has(key)) {
        seen.add(key);
        this.parts.subscriptions.push({
          from,
          to,
          ...(event_name && { channel: event_name }),
          ...(filter && Object.keys(filter).length > 0 && { filter: literal(filter) }),
          ...this.#functionOf(subscription),
        });
      }
    }
  }

  #emitterOf(id: string): string | undefined {
    if (id === this.#account.id) return ACCOUNT;
    // A pattern means all that there are, here too.
    return /^(p|dc)_\*$/.test(id) ? id : this.#byId.get(id);
  }

  #functionOf({ id, function: code }: ShownSubscription): { function?: string } {
    if (!code) return {};
    const path = `functions/${this.#names.choose([id], "function")}.ts`;
    this.functions.set(path, code);
    return { function: `./${path}` };
  }

  /** What has no place in the file yet, or is not to be made twice. */
  others(): void {
    const { autoSubscriptions, workflows } = this.#account;
    for (const { id } of autoSubscriptions ?? [])
      this.#hand(
        "other",
        id,
        "subscribes a listener to whatever is made later: make it again (POST /v1/auto_subscriptions)",
      );
    if (workflows === null)
      this.#hand(
        "workflow",
        "workflows",
        "the server does not list them; only those that something subscribes to are known",
      );
  }

  #nameOf(id: string, texts: (string | null | undefined)[], otherwise: string): string {
    const name = this.#names.choose(texts, otherwise);
    this.#byId.set(id, name);
    return name;
  }
}

/** The default is left out, and so is a format of another server's own. */
function formatOf({ format: shown }: ShownWebhook) {
  const format = BODY_FORMATS.find(one => one === shown);
  return format !== undefined && format !== "json" ? { format } : {};
}
