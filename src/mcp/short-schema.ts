type Json = Record<string, unknown>;

/** Returns a schema of what a tool shows, in fewer bytes. */
export type Shorten = (row: Json) => Json;

/**
 * Returns a function that shortens the schemas of a list of tools, which each conversation of an agent begins with: the fields of a
 * row with their types, what a field is in a sentence, said once in the list, and nothing of what is inside of a field. What the
 * whole schema allows, the short one allows too. The documentation has the rest, and a result shows it.
 */
export function shortener(): Shorten {
  const said = new Set<string>();
  const once = (name: string, description: unknown): Json => {
    if (typeof description !== "string" || said.has(name + description)) return {};
    said.add(name + description);
    return { description: firstSentence(description) };
  };
  const shorten = ({ properties, anyOf, ...row }: Json): Json => {
    if (Array.isArray(anyOf)) return { anyOf: anyOf.map(shorten) };
    if (properties === undefined) return bare(row);
    const fields = Object.entries(properties as Record<string, Json>);
    return {
      type: "object",
      properties: Object.fromEntries(
        fields.map(([name, field]) => [name, { ...bare(field), ...once(name, field.description) }]),
      ),
    };
  };
  return shorten;
}

const firstSentence = (text: string): string => text.split(/\.\s/, 1)[0]?.replace(/\.$/, "") ?? "";

/** Returns the type of a value, or the values of a choice, without what is inside of an object. */
function bare({ type, items, anyOf, enum: choice, ...schema }: Json): Json {
  if (Array.isArray(anyOf)) return union(anyOf.map(bare));
  if ("const" in schema) return { enum: [schema.const] };
  if (choice !== undefined) return { enum: choice };
  return { ...(type !== undefined && { type }), ...(items !== undefined && { items: bare(items as Json) }) };
}

/** Returns one schema for several, which may allow more. */
function union(branches: Json[]): Json {
  const choices = branches.map(branch => branch.enum ?? (branch.type === "null" ? [null] : undefined));
  if (choices.every(Array.isArray)) return { enum: choices.flat() };
  if (branches.some(({ type }) => type === undefined)) return {};
  const types = [...new Set(branches.flatMap(({ type }) => type))];
  const lists = branches.filter(({ items }) => items !== undefined);
  return {
    type: types.length === 1 ? types[0] : types,
    ...(lists.length === 1 && { items: lists[0]?.items }),
  };
}
