/** Text that is put into another text. */
export interface InsertedText {
  readonly at: number;
  readonly text: string;
}

/**
 * A text with pieces put in; null when taking them out again would not give every old character.
 *
 * @example withPieces('ac', [{ at: 1, text: 'b' }]) // 'abc'
 */
export function withPieces(text: string, pieces: readonly InsertedText[]): string | null {
  const placed = pieces.toSorted((a, b) => a.at - b.at);
  let edited = '';
  let from = 0;
  for (const { at, text: piece } of placed) {
    edited += text.slice(from, at) + piece;
    from = at;
  }
  edited += text.slice(from);
  return taken(edited, placed) === text ? edited : null;
}

function taken(edited: string, placed: readonly InsertedText[]): string {
  let text = '';
  let from = 0;
  let before = 0;
  for (const { at, text: piece } of placed) {
    text += edited.slice(from, at + before);
    from = at + before + piece.length;
    before += piece.length;
  }
  return text + edited.slice(from);
}

/** As the file has them. */
export const lineEndOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');
