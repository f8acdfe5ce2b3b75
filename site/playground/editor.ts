import { closeBrackets } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import { sql } from '@codemirror/lang-sql';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic as Mark, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState, type Extension, Prec } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import type { Diagnostic } from '@twofold/schema';
import { graphql } from 'cm6-graphql';
import { colours, theme, typing } from '../../runtime/console/web/parts/editor-theme.ts';

/** An editor, or a view of a text that nobody may change. */
export interface PlaygroundEditor {
  /** Shows another text. The name of its file says its language. */
  show(file: string, text: string): void;
  /** Underlines what findings are about. */
  mark(findings: readonly Diagnostic[]): void;
  /** Puts the cursor at a place and the focus into the editor. */
  go(line: number, column: number): void;
  close(): void;
}

export interface EditorOptions {
  readonly label: string;
  /** Called with each new text; absent for a view. */
  readonly change?: (text: string) => void;
}

/**
 * Makes an editor in a shadow root, where CodeMirror adopts its style sheets: the policy of the
 * site refuses `<style>` elements.
 */
export function createEditor(host: HTMLElement, options: EditorOptions): PlaygroundEditor {
  const root = host.attachShadow({ mode: 'open' });
  const language = new Compartment();
  const view = new EditorView({ root, parent: root, state: stateOf(options, language) });
  return {
    show: (file, text) => {
      const changes = { from: 0, to: view.state.doc.length, insert: text };
      const isSame = view.state.doc.toString() === text;
      view.dispatch({ effects: language.reconfigure(languageOf(file)) });
      if (isSame) return;
      view.dispatch({ changes, selection: { anchor: 0 } });
      view.scrollDOM.scrollTop = 0;
    },
    mark: (findings) =>
      view.dispatch(
        setDiagnostics(
          view.state,
          findings.map((finding) => markOf(view.state, finding)),
        ),
      ),
    go: (line, column) => {
      view.dispatch({ selection: { anchor: offsetOf(view.state, line, column) } });
      view.dispatch({
        effects: EditorView.scrollIntoView(view.state.selection.main, { y: 'center' }),
      });
      view.focus();
    },
    close: () => view.destroy(),
  };
}

function stateOf({ label, change }: EditorOptions, language: Compartment): EditorState {
  const listener = EditorView.updateListener.of(({ docChanged, state }) => {
    if (docChanged) change?.(state.doc.toString());
  });
  return EditorState.create({
    extensions: [
      lineNumbers(),
      drawSelection(),
      syntaxHighlighting(colours),
      theme,
      frame,
      EditorView.contentAttributes.of({
        'aria-label': label,
        'aria-readonly': String(!change),
        tabindex: '0',
      }),
      language.of([]),
      change ? [editing, listener] : EditorState.readOnly.of(true),
      keymap.of(defaultKeymap),
    ],
  });
}

const editing: Extension = [
  history(),
  indentOnInput(),
  bracketMatching(),
  closeBrackets(),
  typing,
  keymap.of(historyKeymap),
];

/** The panel around an editor draws the border. */
const frame = Prec.highest(
  EditorView.theme({
    '&': { border: '0', borderRadius: '0', backgroundColor: 'transparent' },
    '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
    '.cm-lintRange-warning, .cm-lintRange-info, .cm-lintRange-hint': {
      backgroundImage: 'none',
      textDecoration: 'underline wavy var(--warn)',
      textDecorationSkipInk: 'none',
    },
  }),
);

function languageOf(file: string): Extension {
  if (file.endsWith('.graphql')) return graphql(undefined, { showErrorOnInvalidSchema: false });
  if (/\.[jt]s$/.test(file)) return javascript({ typescript: true });
  if (/\.ya?ml$/.test(file)) return yaml();
  if (file.endsWith('.json')) return json();
  return file.endsWith('.sql') ? sql() : [];
}

function markOf(state: EditorState, { at, summary, fix, severity }: Diagnostic): Mark {
  const from = offsetOf(state, at.line, at.column);
  return {
    from,
    to: Math.min(from + Math.max(at.length, 1), state.doc.length),
    severity: severity === 'hint' ? 'info' : severity,
    message: fix ? `${summary}\n${fix}` : summary,
  };
}

function offsetOf(state: EditorState, line: number, column: number): number {
  const { from, to } = state.doc.line(Math.min(Math.max(line, 1), state.doc.lines));
  return Math.min(from + Math.max(column - 1, 0), to);
}
