import type { ASTNode, Location } from 'graphql';
import type { Diagnostic, Position } from '../diagnostic.ts';
import { locate } from './pieces.ts';
import type { Piece } from './pieces.ts';
import type { ParsedFile } from './syntax.ts';

/** A finding that points at a node of the SDL, or at a place of the manifest. */
export interface Finding extends Omit<Diagnostic, 'at'> {
  readonly at: ASTNode | Position | undefined;
}

/** Nodes made by us have no place and are said to be at the start of the schema. */
const NOWHERE: Position = { file: 'schema.graphql', line: 1, column: 1, length: 1 };

/**
 * Looks up where the nodes of findings stand, all at once: only the pieces that hold one are parsed again.
 *
 * @example
 * placed([{ code: 'QUERY_MISSING', severity: 'error', summary, at: definition.name }], files)[0]?.at.line // 3
 */
export function placed(findings: readonly Finding[], files: readonly ParsedFile[]): Diagnostic[] {
  const nodes = new Set(findings.flatMap(({ at }) => (at && !isPosition(at) ? [at] : [])));
  const positions = nodes.size === 0 ? new Map<ASTNode, Position>() : findPositions(nodes, files);
  return findings.map(({ at, ...finding }) => ({
    ...finding,
    at: at && isPosition(at) ? at : ((at && positions.get(at)) ?? NOWHERE),
  }));
}

function isPosition(at: ASTNode | Position): at is Position {
  return 'line' in at;
}

function findPositions(
  wanted: ReadonlySet<ASTNode>,
  files: readonly ParsedFile[],
): Map<ASTNode, Position> {
  const found = new Map<ASTNode, Position>();
  for (const { source, pieces } of files) {
    let line = 0;
    for (const piece of pieces) {
      if (found.size === wanted.size) return found;
      for (const [node, loc] of locationsIn(piece, wanted))
        found.set(node, positionIn(source.file, piece, line, loc));
      line += piece.text.match(LINE_END)?.length ?? 0;
    }
  }
  return found;
}

const LINE_END = /\r\n|\r|\n/g;

/** Parsed again, a text gives the same nodes in the same order. */
function locationsIn(piece: Piece, wanted: ReadonlySet<ASTNode>): (readonly [ASTNode, Location])[] {
  const nodes = nodesOf(piece.definitions);
  if (!nodes.some((node) => wanted.has(node))) return [];
  const located = nodesOf(locate(piece));
  return nodes.flatMap((node, at) =>
    wanted.has(node) ? [[node, located[at]!.loc!] as const] : [],
  );
}

function nodesOf(definitions: readonly ASTNode[]): ASTNode[] {
  const nodes: ASTNode[] = [];
  for (const definition of definitions) collect(definition, nodes);
  return nodes;
}

function collect(node: ASTNode, nodes: ASTNode[]): void {
  nodes.push(node);
  for (const [key, value] of Object.entries(node) as [string, unknown][]) {
    if (key === 'loc' || typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) for (const each of value as ASTNode[]) collect(each, nodes);
    else collect(value as ASTNode, nodes);
  }
}

/** A piece begins with its file or behind the brace that begins a line. */
function positionIn(file: string, { start, text }: Piece, line: number, loc: Location): Position {
  const { startToken } = loc;
  const before = start > 0 && startToken.line === 1 ? '}'.length : 0;
  return {
    file,
    line: line + startToken.line,
    column: before + startToken.column,
    length: lengthOnLine(text, loc.start, loc.end),
  };
}

/** A mark never runs past the end of its line. */
function lengthOnLine(text: string, start: number, end: number): number {
  const newline = text.slice(start, end).search(/\r?\n/);
  return Math.max(1, newline < 0 ? end - start : newline);
}
