import { HighlightStyle } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** Custom properties reach into the shadow root, and so does the colour scheme. */
export const theme = EditorView.theme({
  '&': {
    color: 'var(--text)',
    backgroundColor: 'var(--sunken)',
    border: '1px solid var(--edge)',
    borderRadius: 'var(--radius)',
    height: '100%',
    fontSize: '0.8125rem',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', overflow: 'auto' },
  '.cm-content': { padding: '0.5rem 0', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 0.625rem' },
  '.cm-gutters': {
    backgroundColor: 'transparent',
    color: 'var(--quiet)',
    border: '0',
    paddingLeft: '0.25rem',
  },
  '.cm-placeholder': { color: 'var(--quiet)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { backgroundColor: 'light-dark(#cddcfb, #2d4374) !important' },
  '&.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--mark)',
    outline: '1px solid var(--edge)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    border: '1px solid var(--edge)',
    borderRadius: 'var(--radius)',
    boxShadow: 'var(--shadow-large)',
    zIndex: '10',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '16rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.125rem 0.5rem' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--strong)',
    color: 'var(--on-strong)',
  },
  '.cm-completionDetail': { color: 'inherit', opacity: '0.8' },
  '.cm-completionInfo': { maxWidth: '22rem', padding: '0.5rem', fontFamily: 'var(--sans)' },
  '.cm-diagnostic': { padding: '0.375rem 0.625rem', fontFamily: 'var(--sans)' },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--bad)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad)',
    textDecorationSkipInk: 'none',
  },
  '@media (forced-colors: active)': { '&.cm-focused': { outlineColor: 'Highlight' } },
});

export const colours = HighlightStyle.define([
  {
    tag: [tags.keyword, tags.definitionKeyword, tags.modifier],
    color: 'light-dark(#8a2387, #e0a0de)',
  },
  { tag: [tags.propertyName], color: 'light-dark(#1d4fa8, #97b6ff)' },
  { tag: [tags.string, tags.special(tags.name)], color: 'light-dark(#17653c, #82d4a3)' },
  {
    tag: [tags.number, tags.integer, tags.float, tags.bool, tags.null],
    color: 'light-dark(#8a4a00, #f0b46a)',
  },
  { tag: [tags.variableName, tags.attributeName], color: 'light-dark(#7d4e00, #e9bb6a)' },
  { tag: [tags.atom, tags.typeName], color: 'light-dark(#0b6470, #7fd0dc)' },
  { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
]);

/**
 * Inserts typed text itself. The browser would put the colour of replaced text into a style
 * attribute, which the console's policy refuses with a report.
 */
export const typing = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { data, inputType } = event;
    if (inputType !== 'insertText' || data === null || view.composing) return false;
    const [from, to] = selected(view);
    const change = () =>
      view.state.update({
        changes: { from, to, insert: data },
        selection: { anchor: from + data.length },
        userEvent: 'input.type',
        scrollIntoView: true,
      });
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some((handle) => handle(view, from, to, data, change))) view.dispatch(change());
    event.preventDefault();
    return true;
  },
});

/** The selection of the document, which may be newer than the one that the editor knows. */
function selected(view: EditorView): readonly [from: number, to: number] {
  const root = view.root as Partial<Pick<Document, 'getSelection'>>;
  const { anchorNode, anchorOffset, focusNode, focusOffset } =
    root.getSelection?.() ?? document.getSelection() ?? NONE;
  const { from, to } = view.state.selection.main;
  if (!anchorNode || !focusNode || !view.contentDOM.contains(anchorNode)) return [from, to];
  const ends = [view.posAtDOM(anchorNode, anchorOffset), view.posAtDOM(focusNode, focusOffset)];
  return [Math.min(...ends), Math.max(...ends)];
}

const NONE = { anchorNode: null, anchorOffset: 0, focusNode: null, focusOffset: 0 };
