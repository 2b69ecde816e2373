import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeCompletion,
  selectedCompletion,
} from "@codemirror/autocomplete";
import { ensureSyntaxTree, syntaxTree } from "@codemirror/language";
import { EditorState, type Extension, Prec } from "@codemirror/state";
import { type EditorView, keymap } from "@codemirror/view";
// With its ending: a test in Node imports this file.
import {
  COMPONENT_KEYS,
  HOOKS,
  KEYS_OF_CALL,
  OF_ACTION,
  OF_EVENT,
  OF_TYPE,
  OWN,
  PROP_KEYS,
  TYPES,
} from "./component-api.ts";

type SyntaxNode = ReturnType<ReturnType<typeof syntaxTree>["resolveInner"]>;

const WORD = /^[\w$]*$/;

/** A slow machine has parsed only a part of the code by itself; it goes on for so long at most. */
const PARSED_MS = 500;

const treeOf = (state: EditorState, upTo: number) =>
  ensureSyntaxTree(state, upTo, PARSED_MS) ?? syntaxTree(state);

/** What the code of a component says of itself. */
interface Component {
  /** The type of each prop; "" where it can't be read. */
  props: Map<string, string>;
  methods: string[];
}

const textOf = (state: EditorState, node: SyntaxNode | null): string =>
  node === null ? "" : state.sliceDoc(node.from, node.to);
const unquoted = (text: string): string => /^(["'`])(.*)\1$/.exec(text)?.[2] ?? "";

/** The properties of an object by name, each with its node. */
function entriesOf(state: EditorState, object: SyntaxNode | null): [string, SyntaxNode][] {
  const named = (object?.getChildren("Property") ?? []).map((node): [string, SyntaxNode] => [
    textOf(state, node.getChild("PropertyDefinition")),
    node,
  ]);
  return named.filter(([name]) => name !== "");
}

function typeOf(state: EditorState, prop: SyntaxNode): string {
  const inner = entriesOf(state, prop.getChild("ObjectExpression")).find(([name]) => name === "type");
  return unquoted(textOf(state, (inner?.[1] ?? prop).getChild("String")));
}

/** Reads the props and methods of the code as it is now, also while it can't be parsed as a whole. */
function componentOf(state: EditorState): Component {
  const component: Component = { props: new Map(), methods: [] };
  treeOf(state, state.doc.length).iterate({
    enter: ({ name, node }) => {
      if (name !== "Property") return;
      const key = textOf(state, node.getChild("PropertyDefinition"));
      if (key !== "props" && key !== "methods") return;
      for (const [own, property] of entriesOf(state, node.getChild("ObjectExpression"))) {
        if (key === "props") component.props.set(own, typeOf(state, property));
        else component.methods.push(own);
      }
      return false;
    },
  });
  return component;
}

/** What stands in one of these, within an object, can't be a key of the object. */
const NO_KEYS = /^(Block|ArrayExpression|ArgList|ParamList|ObjectPattern|String|TemplateString|\w+Comment)$/;

/** The object in which a key is about to stand. */
function objectAt(state: EditorState, at: number): SyntaxNode | null {
  let node: SyntaxNode | null = treeOf(state, at).resolveInner(at, -1);
  while (node && node.name !== "ObjectExpression") node = NO_KEYS.test(node.name) ? null : node.parent;
  return node;
}

/** The names that lead to an object from the outermost one: `["props", "city"]`. */
function pathOf(state: EditorState, object: SyntaxNode): string[] {
  const { parent } = object;
  if (parent?.name !== "Property") return [];
  const outer = parent.parent;
  const name = textOf(state, parent.getChild("PropertyDefinition"));
  return outer === null ? [name] : [...pathOf(state, outer), name];
}

/** The keys of an object that has no name: the component itself, or what a call is given. */
function keysOfNameless(state: EditorState, object: SyntaxNode): Completion[] {
  const { parent } = object;
  if (parent?.name === "ExportDeclaration") return COMPONENT_KEYS;
  const before = textOf(
    state,
    parent?.name === "ArgList" ? (parent.parent?.firstChild ?? null) : (parent?.firstChild ?? null),
  );
  if (before === "module.exports" || before === "defineComponent") return COMPONENT_KEYS;
  const called = /\.([\w$]+)$/.exec(before)?.[1] ?? "";
  const isFirst = object.prevSibling?.name !== ",";
  return KEYS_OF_CALL[called]?.[isFirst ? "first" : "second"] ?? [];
}

/** The keys that the object at this place may have. */
function keysAt(state: EditorState, at: number): Completion[] {
  const before =
    state
      .sliceDoc(Math.max(0, at - 500), at)
      .trimEnd()
      .at(-1) ?? "";
  const object = before === "{" || before === "," ? objectAt(state, at) : null;
  if (object === null) return [];
  const path = pathOf(state, object);
  if (path.length === 0) return keysOfNameless(state, object);
  if (path[0] === "props" && path.length === 2) return PROP_KEYS;
  return path[0] === "hooks" && path.length === 1 ? HOOKS : [];
}

/** Completes what a component has: on `this`, on its props, on its event, and as its keys and types. */
export function complete(context: CompletionContext): CompletionResult | null {
  const { state } = context;
  const after = (pattern: RegExp) => context.matchBefore(pattern);
  const result = (options: Completion[], from: number, validFor = WORD): CompletionResult | null =>
    options.length === 0 ? null : { from, options, validFor };
  const afterDot = ({ text, to }: { text: string; to: number }) =>
    to - text.length + text.lastIndexOf(".") + 1;

  const ofProp = after(/\bthis\.[\w$]+\.[\w$]*/);
  if (ofProp) {
    const type = componentOf(state).props.get(ofProp.text.split(".")[1] ?? "") ?? "";
    return result(OF_TYPE[type] ?? [], afterDot(ofProp));
  }
  const own = after(/\bthis\.[\w$]*/);
  if (own) {
    const { props, methods } = componentOf(state);
    const names = [
      ...[...props].map(([label, type]) => ({ label, detail: type || "a prop", type: "property" })),
      ...methods.map(label => ({ label, detail: "a method of its own", type: "method" })),
    ];
    return result([...OWN, ...names], afterDot(own));
  }
  const event = after(/\bevent\.[\w$]*/);
  if (event) {
    const types = new Set(componentOf(state).props.values());
    const options = [...types].flatMap(type => OF_EVENT[type] ?? []);
    return result(options, afterDot(event));
  }
  const quoted = after(/["'`]\$\.?[\w.]*|\btype:\s*["'`][\w$.[\]]*/);
  if (quoted) return result(TYPES, quoted.from + quoted.text.search(/["'`]/) + 1, /^[\w$.[\]]*$/);
  const action = after(/(?<![\w$.])\$\.[\w.]*/);
  if (action) return result(OF_ACTION, action.from, /^[$\w.]*$/);
  const word = after(/[\w$]*/);
  if (!word || (word.text === "" && !context.explicit)) return null;
  return result(keysAt(state, word.from), word.from);
}

/** Enter after a word that is typed to its end is a new line, and not that word again. */
function leaveTyped(view: EditorView): boolean {
  const { state } = view;
  const label = selectedCompletion(state)?.label ?? "";
  const { head } = state.selection.main;
  if (label !== "" && state.sliceDoc(Math.max(0, head - label.length), head) === label) closeCompletion(view);
  return false;
}

/** Completions that the code of a component has beside those of its language. */
export const completions: Extension = [
  EditorState.languageData.of(() => [{ autocomplete: complete }]),
  Prec.highest(keymap.of([{ key: "Enter", run: leaveTyped }])),
];
