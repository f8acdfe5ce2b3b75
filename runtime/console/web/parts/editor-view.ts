import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { linter } from '@codemirror/lint';
import { EditorState, type Extension, Prec, StateEffect, StateField } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers, placeholder } from '@codemirror/view';
import type {
  EditorHandle,
  EditorLanguage,
  EditorOptions,
  Language,
  EditorProblem,
} from './editor-types.ts';
import { colours, theme, typing } from './editor-theme.ts';

/**
 * An editor in a shadow root, where CodeMirror adopts its style sheets: in the document it would add
 * `<style>` elements, which the policy of the console refuses.
 */
export async function createEditor(
  host: HTMLElement,
  options: EditorOptions,
): Promise<EditorHandle> {
  const language = await languageOf(options.language);
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const state = EditorState.create({
    doc: options.value,
    extensions: [language.extension, extensionsOf(options)],
  });
  const view = new EditorView({ state, parent: root, root });
  return {
    set: (text) => {
      const { doc } = view.state;
      if (doc.length === text.length && doc.toString() === text) return;
      view.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
    },
    mark: (marks) => view.dispatch({ effects: setMarks.of(marks) }),
    setSchema: async (schema) => language.setSchema?.(view, schema),
    close: () => view.destroy(),
  };
}

/** Each is a file of its own: a page with JSON alone does not load GraphQL. */
async function languageOf(name: EditorLanguage): Promise<Language> {
  if (name === 'graphql') return (await import('./editor-graphql.ts')).graphqlLanguage();
  if (name === 'sql') return (await import('./editor-sql.ts')).sqlLanguage();
  return (await import('./editor-json.ts')).jsonLanguage();
}

function extensionsOf({ label, readOnly, run, change, at, ...options }: EditorOptions): Extension {
  const listener = EditorView.updateListener.of(({ docChanged, selectionSet, state }) => {
    if (docChanged) change(state.doc.toString());
    if (docChanged || selectionSet) at(state.selection.main.head);
  });
  const runKey = Prec.highest(
    keymap.of([{ key: 'Mod-Enter', run: () => (run(), true), preventDefault: true }]),
  );
  return [
    lineNumbers(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    autocompletion(),
    syntaxHighlighting(colours),
    theme,
    placeholder(options.placeholder),
    marking,
    typing,
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({
      'aria-label': label,
      'aria-readonly': String(readOnly),
    }),
    EditorState.readOnly.of(readOnly),
    runKey,
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap]),
    listener,
  ];
}

const setMarks = StateEffect.define<readonly EditorProblem[]>();

/** The places that the page marks, until the text changes. */
const marks = StateField.define<readonly EditorProblem[]>({
  create: () => [],
  update: (known, { effects, docChanged }) =>
    effects.find((effect) => effect.is(setMarks))?.value ?? (docChanged ? [] : known),
});

const marking: Extension = [
  marks,
  linter(
    ({ state }) =>
      state.field(marks).map(({ line, column, message }) => {
        const { from, to } = state.doc.line(Math.min(Math.max(line, 1), state.doc.lines));
        const at = Math.min(from + Math.max(column - 1, 0), to);
        const word = state.wordAt(at);
        return { from: at, to: word?.to ?? Math.min(at + 1, to), severity: 'error', message };
      }),
    {
      delay: 0,
      needsRefresh: ({ startState, state }) => startState.field(marks) !== state.field(marks),
    },
  ),
];
