/** Replaces the characters of a text from `at` to `end`; where both are equal, it inserts. */
export interface TextEdit {
  readonly at: number;
  readonly end: number;
  readonly text: string;
}

/** A codemod gave edits that cannot be applied: a bug of the codemod. */
export class EditError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EditError';
  }
}

/**
 * Applies edits by position, and checks that every character outside of them is where it was.
 *
 * @throws EditError when edits overlap or lie outside of the text.
 * @example withEdits('a: 1', [{ at: 3, end: 4, text: '2' }]) // 'a: 2'
 */
export function withEdits(text: string, edits: readonly TextEdit[]): string {
  const sorted = edits.toSorted((a, b) => a.at - b.at || a.end - b.end);
  let edited = '';
  let from = 0;
  for (const { at, end, text: piece } of sorted) {
    if (at < from || end < at || end > text.length)
      throw new EditError(`an edit from ${at} to ${end} overlaps another or leaves the text`);
    edited += text.slice(from, at) + piece;
    from = end;
  }
  edited += text.slice(from);
  if (withoutEdits(edited, text, sorted) !== text)
    throw new EditError('an edit changed characters outside of its place');
  return edited;
}

/** The edited text with the old pieces in the places of the new ones. */
function withoutEdits(edited: string, before: string, sorted: readonly TextEdit[]): string {
  let text = '';
  let from = 0;
  let shift = 0;
  for (const { at, end, text: piece } of sorted) {
    text += edited.slice(from, at + shift) + before.slice(at, end);
    from = at + shift + piece.length;
    shift += piece.length - (end - at);
  }
  return text + edited.slice(from);
}

/** The line of a position, from 1. */
export const lineAt = (text: string, at: number): number => text.slice(0, at).split('\n').length;
