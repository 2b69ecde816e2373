/** How many edits make a misspelling of a name of at least so many characters: short names are too like others. */
const NEAR: [minChars: number, edits: number][] = [
  [8, 2],
  [5, 1],
];

/** Names that a `.env` may hold besides settings: those of Node, npm, proxies, OpenTelemetry, and the command line. */
const OTHERS =
  /^(NODE_\w+|OTEL_\w+|npm_config_\w+|(https?|no|all)_proxy|SSL_CERT_(FILE|DIR)|TZ|LANG|LC_\w+|PATH|HOME|TMPDIR|HEADWATER_(URL|API_KEY|PROFILE))$/i;

/**
 * Returns a message for each variable of the environment that is probably a misspelled setting, starting with its name.
 * An environment is shared with other programs (a cluster even adds variables of its own), so other names are ignored, and
 * so is one that is like a setting which is given.
 */
export function misspelledNames(environment: NodeJS.ProcessEnv, settings: readonly string[]): string[] {
  const isGiven = (name: string) => environment[name] !== undefined && environment[name] !== "";
  return Object.keys(environment).flatMap(name => {
    if (!isGiven(name) || settings.includes(name)) return [];
    const meant = nearest(name, settings, setting => {
      const chars = Math.min(name.length, setting.length);
      return NEAR.find(([minChars]) => chars >= minChars)?.[1] ?? 0;
    });
    return meant === undefined || isGiven(meant) ? [] : [unknown(name, meant)];
  });
}

/** Returns a message for each name in a file of settings that is not one, starting with the name. */
export function unknownNames(names: readonly string[], settings: readonly string[]): string[] {
  return names
    .filter(name => !settings.includes(name) && !OTHERS.test(name))
    .map(name =>
      unknown(
        name,
        nearest(name, settings, () => Math.ceil(name.length / 3)),
      ),
    );
}

const unknown = (name: string, meant: string | undefined) =>
  `${name} is not a setting${meant === undefined ? "" : `: did you mean ${meant}?`}`;

/** Returns the setting that is most like the name, and at most so many edits away. */
function nearest(
  name: string,
  settings: readonly string[],
  mostEdits: (setting: string) => number,
): string | undefined {
  const [best] = settings
    .map(setting => ({ setting, edits: editDistance(name.toUpperCase(), setting) }))
    .filter(({ setting, edits }) => edits <= mostEdits(setting))
    .sort((a, b) => a.edits - b.edits);
  return best?.setting;
}

/** Returns how many characters must be inserted, deleted, replaced or swapped with the next one to get `b` from `a`. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? (beforeLast[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      row[j] = Math.min(replaced, swapped, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
