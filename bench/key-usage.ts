import { table } from "./report.ts";
import { SLOTS, slotOf, tagOf } from "./slot.ts";

/** Commands without a key, or whose first argument is none. */
const KEYLESS =
  /^(auth|client|cluster|command|config|discard|exec|function|hello|info|monitor|multi|ping|psubscribe|publish|readonly|script|select|subscribe|time|unsubscribe|wait)$/;
/** Parts of the keys of BullMQ's queues; any other last part is a job's. */
const QUEUE_PARTS =
  /^(wait|active|paused|delayed|prioritized|completed|failed|stalled|stalled-check|marker|meta|events|id|pc|fair|repeat|limiter|de)$/;
const SHOWN_TAGS = 40;
const SHOWN_PATTERNS = 40;
const MASTERS = 3;

interface Use {
  /** Commands that clients sent. */
  sent: number;
  /** Commands that scripts called. */
  inside: number;
  bytes: number;
}

interface PatternUse extends Use {
  keys: Set<string>;
  slots: Map<number, number>;
}

/** What the commands of an installation touch, by key pattern and by hash tag. */
export class KeyUsage {
  readonly #prefix: string;
  readonly #patterns = new Map<string, PatternUse>();
  readonly #tags = new Map<string, Use>();
  readonly #slots = new Map<number, number>();
  #all = 0;
  #events = 0;

  /** `prefix`: the installation's `REDIS_PREFIX`; keys of others are left out. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Counts one line of Redis' MONITOR. `isInside`: a script called the command. */
  count(args: string[], isInside: boolean): void {
    const key = firstKey(args);
    if (key === undefined || !this.#isOurs(key)) return;
    const bytes = args.reduce((sum, arg) => sum + arg.length, 0);
    const slot = slotOf(key);
    const pattern = getOr(this.#patterns, this.patternOf(key), () => ({
      ...none(),
      keys: new Set(),
      slots: new Map(),
    }));
    for (const use of [pattern, getOr(this.#tags, tagOf(key) ?? key, none)]) {
      use.sent += isInside ? 0 : 1;
      use.inside += isInside ? 1 : 0;
      // What a script was sent is counted with the script.
      use.bytes += isInside ? 0 : bytes;
    }
    pattern.keys.add(key);
    pattern.slots.set(slot, (pattern.slots.get(slot) ?? 0) + 1);
    this.#slots.set(slot, (this.#slots.get(slot) ?? 0) + 1);
    this.#all += 1;
    if (isInside && args[0]?.toLowerCase() === "hset" && key.endsWith(":summaries:emits"))
      this.#events += (args.length - 2) / 2;
  }

  /** Returns the key without what differs between accounts, emitters, webhooks and jobs. */
  patternOf(key: string): string {
    const queue = /^\{([^}]+)\}:([^:]+):(.*)$/s.exec(key);
    if (queue) {
      const [, tag = "", , part = ""] = queue;
      const [first = "", ...rest] = part.split(":");
      const last = rest.at(-1);
      if (first === "" || QUEUE_PARTS.test(part)) return `{${tag}} ${part}`.trim();
      if (first === "repeat") return `{${tag}} timer`;
      return `{${tag}} job${last === "lock" ? " lock" : ""}`;
    }
    return key
      .slice(this.#prefix.length + 1)
      .replaceAll(/\b([a-z]{1,4})_[A-Za-z0-9]{6,}/g, "$1_…")
      .replaceAll(/[A-Za-z0-9_-]{20,}/g, "…")
      .replaceAll(/\d{4}-\d\d-\d\d/g, "<day>");
  }

  /** Returns the tables: the hash tags that are used most, the patterns, and the shards of a cluster of three. */
  report(): string {
    const events = Math.max(1, this.#events);
    const each = (count: number) => (count / events).toFixed(count / events < 0.1 ? 3 : 2);
    const share = (count: number) => `${((count / Math.max(1, this.#all)) * 100).toFixed(1)} %`;
    const total = ({ sent, inside }: Use) => sent + inside;
    const byUse = <T extends Use>(uses: Map<string, T>) =>
      [...uses].sort(([, a], [, b]) => total(b) - total(a));
    const cells = (use: Use) => [each(use.sent), each(use.inside), each(use.bytes), share(total(use))];
    const head = ["sent/event", "in scripts/event", "bytes/event", "share"];
    const hottest = Math.max(0, ...this.#slots.values());
    const thirds = Array.from({ length: MASTERS }, (_, n) =>
      [...this.#slots].reduce(
        (sum, [slot, count]) => sum + (Math.floor((slot * MASTERS) / SLOTS) === n ? count : 0),
        0,
      ),
    );
    const shared = byUse(this.#tags).filter(([tag]) => tag.includes(":") || !/^[a-z]{1,4}_/.test(tag));
    return [
      `${this.#events} events, ${this.#all} commands, those that scripts called too`,
      "",
      "Keys that do not belong to one emitter, source, webhook or account, by hash tag",
      table([
        ["", ...head, "slot"],
        ...shared.slice(0, SHOWN_TAGS).map(([tag, use]) => [tag, ...cells(use), String(slotOf(`{${tag}}`))]),
      ]),
      "",
      "By key pattern",
      table([
        ["", ...head, "keys", "slots", "its hottest slot"],
        ...byUse(this.#patterns)
          .slice(0, SHOWN_PATTERNS)
          .map(([name, use]) => [
            name,
            ...cells(use),
            String(use.keys.size),
            String(use.slots.size),
            share(Math.max(...use.slots.values())),
          ]),
      ]),
      "",
      `Hottest slot: ${share(hottest)} of ${this.#slots.size} slots in use; three masters with a third of the slots each: ${thirds.map(share).join(", ")}`,
    ].join("\n");
  }

  #isOurs(key: string): boolean {
    return key.startsWith(`${this.#prefix}:`) || key.startsWith(`{${this.#prefix}:`);
  }
}

const none = (): Use => ({ sent: 0, inside: 0, bytes: 0 });

function getOr<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}

/** Returns the first key of a command; a script names its own. */
function firstKey([command = "", ...args]: string[]): string | undefined {
  const name = command.toLowerCase();
  if (name === "evalsha" || name === "eval") return Number(args[1]) > 0 ? args[2] : undefined;
  return KEYLESS.test(name) ? undefined : args[0];
}
