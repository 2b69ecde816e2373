import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import { EditorState, type Extension } from "@codemirror/state";

/** What stands in quotes as the type of a prop that the platform gives. */
const GIVEN = [
  { label: "$.interface.http", detail: "an endpoint", type: "constant" },
  { label: "$.interface.timer", detail: "a timer", type: "constant" },
  { label: "$.interface.apphook", detail: "events of an app", type: "constant" },
  { label: "$.service.db", detail: "what is kept between runs", type: "constant" },
];

const EMIT = { label: "$emit", detail: "(event, { id, summary, name, ts })", type: "method" };

/** The names in the `props` of a component's code. */
function propsOf(state: EditorState): string[] {
  const names: string[] = [];
  const text = (node: { from: number; to: number } | null) =>
    node === null ? "" : state.sliceDoc(node.from, node.to);
  syntaxTree(state).iterate({
    enter: ({ name, node }) => {
      if (name !== "Property" || text(node.firstChild) !== "props") return;
      const own = node.getChild("ObjectExpression")?.getChildren("Property") ?? [];
      names.push(...own.map(({ firstChild }) => text(firstChild)));
    },
  });
  return names.filter(name => /^[\w$]+$/.test(name));
}

/** Completes `this.` with what a component has there, and the types of props that begin with `$.`. */
function complete(context: CompletionContext): CompletionResult | null {
  const member = context.matchBefore(/\bthis\.[\w$]*/);
  if (member) {
    const props = propsOf(context.state).map(label => ({ label, detail: "a prop", type: "property" }));
    return { from: member.from + "this.".length, options: [EMIT, ...props], validFor: /^[\w$]*$/ };
  }
  const type = context.matchBefore(/\$\.?[\w.]*/);
  if (!type || !/["'`]/.test(context.state.sliceDoc(type.from - 1, type.from))) return null;
  return { from: type.from, options: GIVEN, validFor: /^[$\w.]*$/ };
}

/** Completions that the code of a component has beside those of its language. */
export const completions: Extension = EditorState.languageData.of(() => [{ autocomplete: complete }]);
