import { parse, Source } from 'graphql';
import type { DefinitionNode } from 'graphql';

/**
 * Some whole definitions of a file. Their nodes have no places: `locate` finds them when they are
 * asked for.
 */
export interface Piece {
  /** Where its text begins in the file. */
  readonly start: number;
  readonly text: string;
  readonly definitions: readonly DefinitionNode[];
}

/**
 * What pieces define that were parsed before, by their text: once for each place that it stood at.
 */
export type KnownPieces = Map<string, (readonly DefinitionNode[])[]>;

/**
 * What of them is still to be had: nodes tell where they stand, so that no two places may share
 * one.
 */
export function unusedPieces(known: KnownPieces): KnownPieces {
  return new Map(Array.from(known, ([text, all]) => [text, [...all]]));
}

/** Keeps these pieces for the next run, and forgets all others. */
export function keepPieces(known: KnownPieces, pieces: readonly Piece[]): void {
  known.clear();
  for (const { text, definitions } of pieces)
    known.set(text, [...(known.get(text) ?? []), definitions]);
}

/**
 * Parses a text piece by piece and without places: places, and tokens that live until the last one
 * is read, are most of what a parsed schema takes, and only findings ask for a few of them.
 *
 * @throws GraphQLError when the text is not a schema. Its place counts from the start of the
 * piece, not of the file.
 */
export function parsePieces(text: string, unused: KnownPieces = new Map()): Piece[] {
  const pieces: Piece[] = [];
  for (let start = 0; start < text.length; start += pieces.at(-1)!.text.length)
    pieces.push(pieceFrom(text, start, unused));
  return pieces;
}

/**
 * A piece ends behind a brace that begins a line: nothing of the same definition can follow one. A
 * brace that ends no definition, in a description, leaves a piece that cannot be parsed, and twice
 * as much is tried.
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

/** The definitions of a piece once more, every node with its place in the piece. */
export function locate({ text }: Piece): readonly DefinitionNode[] {
  return isBlank(text) ? [] : parse(new Source(text)).definitions;
}

/** Whether a text holds nothing that GraphQL reads. */
export function isBlank(text: string): boolean {
  return /^(?:[\s,\uFEFF]|#[^\n\r]*(?:[\n\r]|$))*$/.test(text);
}
