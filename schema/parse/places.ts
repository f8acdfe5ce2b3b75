import { locationOf } from '../present.ts';
import type { ASTNode, Location } from 'graphql';
import type { Diagnostic, Fix, Position } from '../diagnostic.ts';
import { nodesOfChange, writeChange, type Located, type ProposedFix } from './changes.ts';
import { locate, type Piece } from './pieces.ts';
import type { ParsedFile } from './syntax.ts';

/** A finding at a node of the SDL, or at a position of the manifest. */
export interface Finding extends Omit<Diagnostic, 'at' | 'fix' | 'fixes'> {
  readonly at: ASTNode | Position | undefined;
  /**
   * A sentence, or a function that makes one from the lines of the fix. Without it only the lines
   * are shown.
   */
  readonly fix?: string | ((lines: string) => string);
  readonly mends?: readonly ProposedFix[];
}

/** The position of nodes that this package creates itself: the start of the schema. */
const NOWHERE: Position = { file: 'schema.graphql', line: 1, column: 1, length: 1 };

/**
 * Looks up the positions of all findings at once: only the pieces that contain their nodes are
 * parsed again.
 *
 * @example
 * placed([{ code: 'QUERY_MISSING', severity: 'error', summary, at: definition.name }], files)[0]?.at.line // 3
 */
export function placed(findings: readonly Finding[], files: readonly ParsedFile[]): Diagnostic[] {
  const nodes = new Set(findings.flatMap(nodesOfFinding));
  const places = nodes.size === 0 ? new Map<ASTNode, LocatedNode>() : findPlaces(nodes, files);
  return findings.map(({ at, fix, mends = [], ...finding }) => ({
    ...finding,
    ...writtenFixes(fix, mends, places),
    at: at && isPosition(at) ? at : ((at && places.get(at)?.position) ?? NOWHERE),
  }));
}

function nodesOfFinding({ at, mends = [] }: Finding): ASTNode[] {
  return [
    ...(at && !isPosition(at) ? [at] : []),
    ...mends.flatMap(({ changes }) => changes.flatMap(nodesOfChange)),
  ];
}

/** The fixes as edits, and the text that shows them. */
function writtenFixes(
  fix: Finding['fix'],
  mends: readonly ProposedFix[],
  places: ReadonlyMap<ASTNode, LocatedNode>,
): Pick<Diagnostic, 'fix' | 'fixes'> {
  const fixes: Fix[] = [];
  const lines: string[] = [];
  for (const { title, changes } of mends) {
    const all = changes.map((change) => writeChange(change, places));
    if (all.length === 0 || all.some((each) => each === undefined)) continue;
    fixes.push({ ...(title && { title }), edits: all.flatMap((each) => each?.edits ?? []) });
    lines.push(`${title ? `${title}: ` : ''}${all.map((each) => each?.text).join('\n')}`);
  }
  const text = typeof fix === 'function' ? fix(lines.join('\n')) : (fix ?? lines.join('\n'));
  return { ...(text && { fix: text }), ...(fixes.length > 0 && { fixes }) };
}

function isPosition(at: ASTNode | Position): at is Position {
  return 'line' in at;
}

/** A node with its offset and its line and column. */
interface LocatedNode extends Located {
  readonly position: Position;
}

function findPlaces(
  wanted: ReadonlySet<ASTNode>,
  files: readonly ParsedFile[],
): Map<ASTNode, LocatedNode> {
  const found = new Map<ASTNode, LocatedNode>();
  for (const { source, pieces } of files) {
    let line = 0;
    for (const piece of pieces) {
      if (found.size === wanted.size) return found;
      for (const [node, located] of locatedIn(piece, wanted)) {
        const position = positionIn(source.file, piece, line, locationOf(located));
        found.set(node, { node: located, source, start: piece.start, position });
      }
      line += piece.text.match(LINE_END)?.length ?? 0;
    }
  }
  return found;
}

const LINE_END = /\r\n|\r|\n/g;

/** Parsing a text again gives the same nodes in the same order. */
function locatedIn(piece: Piece, wanted: ReadonlySet<ASTNode>): (readonly [ASTNode, ASTNode])[] {
  const nodes = nodesOf(piece.definitions);
  if (!nodes.some((node) => wanted.has(node))) return [];
  const located = nodesOf(locate(piece));
  return nodes.flatMap((node, at) => (wanted.has(node) ? [[node, located[at]!] as const] : []));
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

/** A piece begins at the start of its file or after a brace at the beginning of a line. */
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

/**
 * The length of a node, cut at the end of its first line: the report underlines the node on that
 * line only.
 */
function lengthOnLine(text: string, start: number, end: number): number {
  const newline = text.slice(start, end).search(/\r?\n/);
  return Math.max(1, newline < 0 ? end - start : newline);
}
