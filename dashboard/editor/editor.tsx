import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import {
  bracketMatching,
  foldGutter,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from "@codemirror/language";
import { type Diagnostic, forceLinting, linter, lintGutter, lintKeymap } from "@codemirror/lint";
import { unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension, StateEffect } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "preact/hooks";
import { completions } from "./completions";

export interface Fault {
  message: string;
  line: number | null;
  column: number | null;
}

export interface EditorProps {
  value: string;
  onChange: (value: string) => void;
  /** Called a moment after typing; returns what is wrong. */
  check?: (code: string) => Promise<Fault[]>;
  /** Further faults of this code, such as that of a run. */
  faults?: Fault[];
  /** The line that is shown first. */
  line?: number | undefined;
  /** Shown beside the code: what differs from this. */
  original?: string | undefined;
  isReadOnly?: boolean;
  label: string;
}

/** Colours are variables, which reach into the shadow root; so light and dark need no second theme. */
const look = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "13px", height: "100%" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content": { caretColor: "var(--accent)", padding: "0.6rem 0" },
  ".cm-gutters": {
    backgroundColor: "var(--surface)",
    color: "var(--text-3)",
    border: "none",
    paddingLeft: "4px",
  },
  ".cm-activeLine, .cm-activeLineGutter": {
    backgroundColor: "color-mix(in srgb, var(--accent-soft) 40%, transparent)",
  },
  ".cm-cursor": { borderLeftColor: "var(--accent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--accent-soft)",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    border: "1px solid var(--line-strong)",
    borderRadius: "8px",
    boxShadow: "var(--shadow-2)",
    overflow: "hidden",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": {
    fontFamily: "var(--mono)",
    maxHeight: "16rem",
    maxWidth: "min(44rem, 92vw)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": {
    display: "flex",
    alignItems: "baseline",
    gap: "0.6rem",
    padding: "4px 10px",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent-soft)",
    color: "var(--text)",
  },
  ".cm-completionIcon": { flex: "none", padding: "0", color: "var(--text-3)", opacity: "1" },
  ".cm-completionMatchedText": { color: "var(--accent)", fontWeight: "600", textDecoration: "none" },
  ".cm-completionDetail": {
    marginLeft: "auto",
    overflow: "hidden",
    color: "var(--text-2)",
    fontFamily: "var(--font)",
    fontStyle: "normal",
    textOverflow: "ellipsis",
  },
  ".cm-diagnostic": { borderLeft: "3px solid var(--bad)" },
  ".cm-changedLine": { backgroundColor: "var(--good-soft) !important" },
  ".cm-deletedChunk": { backgroundColor: "var(--bad-soft)" },
  // The colours of the words are not legible on it.
  ".cm-deletedChunk *": { color: "var(--text)" },
  ".cm-deletedChunk .cm-deletedText": { background: "none", textDecoration: "line-through" },
});

const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: "var(--json-word)" },
    { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--json-string)" },
    { tag: [tags.number, tags.bool, tags.null], color: "var(--json-number)" },
    { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--json-key)" },
    { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: "var(--info)" },
    { tag: [tags.comment], color: "var(--text-3)", fontStyle: "italic" },
  ]),
);

const CHECK_AFTER_MS = 700;

/** Where a fault is, in characters; its whole line, and the first line if no line is known. */
function placeOf({ doc }: EditorState, { line, column }: Fault): { from: number; to: number } {
  const at = doc.line(Math.min(Math.max(1, line ?? 1), doc.lines));
  const from = Math.min(at.from + Math.max(0, (column ?? 1) - 1), at.to);
  return { from, to: Math.max(from, at.to) };
}

const faultsChanged = StateEffect.define<null>();

const diagnosticsOf = (state: EditorState, faults: Fault[]): Diagnostic[] =>
  faults.map(fault => ({ ...placeOf(state, fault), severity: "error", message: fault.message }));

function lintBy(check: NonNullable<EditorProps["check"]>, further: () => Fault[]): Extension {
  let last = { code: "", faults: Promise.resolve<Fault[]>([]) };
  // The same code is checked once, however often the further faults change.
  const checkOnce = (code: string) => {
    if (last.code !== code) last = { code, faults: check(code) };
    return last.faults.catch(() => {
      last = { code: "", faults: Promise.resolve([]) };
      return [];
    });
  };
  return [
    linter(
      async ({ state }) => {
        const faults = await checkOnce(state.doc.toString());
        return diagnosticsOf(state, [...faults, ...further()]);
      },
      {
        delay: CHECK_AFTER_MS,
        needsRefresh: ({ transactions }) =>
          transactions.some(({ effects }) => effects.some(effect => effect.is(faultsChanged))),
      },
    ),
    lintGutter(),
  ];
}

/**
 * Replaces a selection by what is typed. Chromium itself would copy the style of the replaced text into an attribute,
 * which the page's policy forbids and reports.
 */
function replaceSelection(event: InputEvent, view: EditorView): boolean {
  const { state } = view;
  const { from, to, empty } = state.selection.main;
  const { data, inputType, isComposing } = event;
  if (inputType !== "insertText" || !data || isComposing || empty || state.readOnly) return false;
  const insert = () =>
    state.update(state.replaceSelection(data), { userEvent: "input.type", scrollIntoView: true });
  const isHandled = state.facet(EditorView.inputHandler).some(handle => handle(view, from, to, data, insert));
  if (!isHandled) view.dispatch(insert());
  event.preventDefault();
  return true;
}

const NO_FAULTS: Fault[] = [];

/**
 * A code editor inside a shadow root: there CodeMirror adopts style sheets, while in a document it would add a `<style>`,
 * which the page's policy forbids.
 */
export function Editor({
  value,
  onChange,
  check,
  faults = NO_FAULTS,
  line,
  original,
  isReadOnly = false,
  label,
}: EditorProps) {
  /**
   * The text as it was reported or given last. Only a value that is another one comes from outside: an effect would see the
   * value of a render ago, write that back over a key of this moment, report it, and so on without end.
   */
  const text = useRef(value);
  const given = useRef(0);
  if (value !== text.current) {
    text.current = value;
    given.current += 1;
  }
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef({ onChange, check, faults });
  latest.current = { onChange, check, faults };
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const extensions: Extension[] = [
      lineNumbers(),
      foldGutter(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      autocompletion(),
      completions,
      highlightActiveLine(),
      highlightActiveLineGutter(),
      EditorView.lineWrapping,
      javascript({ typescript: true }),
      look,
      colours,
      EditorView.contentAttributes.of({
        "aria-label": label,
        // It can have the focus anyway; what checks keyboards does not know that.
        tabindex: "0",
        ...(!isReadOnly && { "aria-description": "Escape, then Tab, leaves the editor." }),
      }),
      EditorView.domEventHandlers({ beforeinput: replaceSelection }),
      EditorState.readOnly.of(isReadOnly),
      // Escape, then Tab leaves the editor by keyboard.
      keymap.of([
        // What it runs is for the screen to know: here it would be a new line.
        { key: "Mod-Enter", run: () => true },
        ...closeBracketsKeymap,
        ...defaultKeymap,
        ...historyKeymap,
        ...completionKeymap,
        ...lintKeymap,
        { key: "Tab", run: acceptCompletion },
        indentWithTab,
      ]),
      EditorView.updateListener.of(update => {
        if (!update.docChanged) return;
        const now = update.state.doc.toString();
        if (now === text.current) return;
        text.current = now;
        latest.current.onChange(now);
      }),
      ...(check
        ? [
            lintBy(
              code => latest.current.check?.(code) ?? Promise.resolve([]),
              () => latest.current.faults,
            ),
          ]
        : []),
      ...(original !== undefined ? [unifiedMergeView({ original, mergeControls: false })] : []),
    ];
    view.current = new EditorView({
      state: EditorState.create({ doc: text.current, extensions }),
      root,
      parent: root,
    });
    return () => view.current?.destroy();
  }, [original, isReadOnly]);
  useEffect(() => {
    const editor = view.current;
    if (editor === null || line === undefined) return;
    const { from } = placeOf(editor.state, { message: "", line, column: null });
    editor.dispatch({
      selection: { anchor: from },
      effects: EditorView.scrollIntoView(from, { y: "center" }),
    });
  }, [line]);
  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === text.current) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text.current } });
  }, [given.current]);
  useEffect(() => {
    const editor = view.current;
    if (editor === null || !latest.current.check) return;
    editor.dispatch({ effects: faultsChanged.of(null) });
    forceLinting(editor);
  }, [faults]);
  return (
    <>
      <div class="editor" ref={host} />
      {!isReadOnly && <p class="hint editor-hint">Escape, then Tab, leaves the editor.</p>}
    </>
  );
}
