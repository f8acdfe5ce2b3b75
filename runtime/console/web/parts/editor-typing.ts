import { EditorView } from '@codemirror/view';

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
