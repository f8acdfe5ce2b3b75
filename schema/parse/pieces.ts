import { parse, Source } from 'graphql';
import type { DefinitionNode } from 'graphql';

/** Some whole definitions of a file. Their nodes have no places: `locate` finds them when they are asked for. */
export interface Piece {
  /** Where its text begins in the file. */
  readonly start: number;
  readonly text: string;
  readonly definitions: readonly DefinitionNode[];
}

/**
 * Parses a text piece by piece and without places: places, and tokens that live until the last one is read, are most of
 * what a parsed schema takes, and only findings ask for a few of them.
 *
 * @throws GraphQLError when the text is no schema. Its place is one in a piece and says nothing about the file.
 */
export function parsePieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  for (let start = 0; start < text.length; start += pieces.at(-1)!.text.length) pieces.push(pieceFrom(text, start));
  return pieces;
}

/**
 * A piece ends behind a brace that begins a line: nothing of the same definition can follow one. A brace that ends no
 * definition, in a description, leaves a piece that cannot be parsed, and twice as much is tried.
 */
function pieceFrom(text: string, start: number): Piece {
  for (let least = 0; ; ) {
    const brace = text.indexOf('\n}', start + least);
    const piece = text.slice(start, brace < 0 ? text.length : brace + 2);
    try {
      return { start, text: piece, definitions: isBlank(piece) ? [] : parse(new Source(piece), { noLocation: true }).definitions };
    } catch (error) {
      if (brace < 0) throw error;
      least = 2 * piece.length;
    }
  }
}

/** The definitions of a piece once more, every node with its place in the piece. */
export function locate({ text }: Piece): readonly DefinitionNode[] {
  return isBlank(text) ? [] : parse(new Source(text)).definitions;
}

/** Whether a text holds nothing that GraphQL reads. */
export function isBlank(text: string): boolean {
  return /^(?:[\s,\uFEFF]|#[^\n\r]*(?:[\n\r]|$))*$/.test(text);
}
