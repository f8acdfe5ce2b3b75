/** Text to insert at a position of another text. */
export interface InsertedText {
  readonly at: number;
  readonly text: string;
}

/**
 * A text with pieces inserted; null when removing them would not give back the old text.
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

/** The line ends that the file uses. */
export const lineEndOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');
