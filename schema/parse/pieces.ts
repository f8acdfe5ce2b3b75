import { last } from '../present.ts';
import { parse, Source, type DefinitionNode } from 'graphql';

/**
 * Some complete definitions of a file. Their nodes have no positions: `locate` parses again when
 * they are needed.
 */
export interface Piece {
  /** Where its text begins in the file. */
  readonly start: number;
  readonly text: string;
  readonly definitions: readonly DefinitionNode[];
}

/**
 * Definitions of pieces that were parsed before, by their text. A text that occurs twice has two
 * entries.
 */
export type KnownPieces = Map<string, (readonly DefinitionNode[])[]>;

/**
 * A copy from which each entry is used once: nodes are looked up by identity, so two places must
 * not share one.
 */
export function unusedPieces(known: KnownPieces): KnownPieces {
  return new Map(Array.from(known, ([text, all]) => [text, [...all]]));
}

/** Keeps these pieces for the next run, and removes all others. */
export function keepPieces(known: KnownPieces, pieces: readonly Piece[]): void {
  known.clear();
  for (const { text, definitions } of pieces)
    known.set(text, [...(known.get(text) ?? []), definitions]);
}

/**
 * Parses a text piece by piece without positions. Positions, and tokens that are kept until the
 * last one is read, take most of the memory of a parsed schema, and only findings need a few of
 * them.
 *
 * @throws GraphQLError when the text is not a schema. Its place counts from the start of the
 * piece, not of the file.
 */
export function parsePieces(text: string, unused: KnownPieces = new Map()): Piece[] {
  const pieces: Piece[] = [];
  for (let start = 0; start < text.length; start += last(pieces).text.length)
    pieces.push(pieceFrom(text, start, unused));
  return pieces;
}

/**
 * A piece ends after a brace at the beginning of a line, where a definition usually ends. If the
 * brace is inside a description, the piece cannot be parsed, and a piece of twice the length is
 * tried.
 */
function pieceFrom(text: string, start: number, unused: KnownPieces): Piece {
  for (let least = 0; ;) {
    const brace = text.indexOf('\n}', start + least);
    const piece = text.slice(start, brace < 0 ? text.length : brace + 2);
    try {
      return { start, text: piece, definitions: unused.get(piece)?.pop() ?? definitionsOf(piece) };
    } catch (error) {
      if (brace < 0) throw error;
      least = 2 * piece.length;
    }
  }
}

function definitionsOf(text: string): readonly DefinitionNode[] {
  return isBlank(text) ? [] : parse(new Source(text), { noLocation: true }).definitions;
}

/** Parses the definitions of a piece again, with the position of every node in the piece. */
export function locate({ text }: Piece): readonly DefinitionNode[] {
  return isBlank(text) ? [] : parse(new Source(text)).definitions;
}

/** Whether a text contains no GraphQL token. */
function isBlank(text: string): boolean {
  return /^(?:[\s,\uFEFF]|#[^\n\r]*(?:[\n\r]|$))*$/.test(text);
}
