import { Kind, type ConstDirectiveNode, type DefinitionNode } from 'graphql';
import { isOurDefinition, isOurDirective } from '../our-directives.ts';
import { usesWithin } from './directive-places.ts';
import { locate, type Piece } from './pieces.ts';
import { createMemory } from '../remembered.ts';
import type { ParsedFile } from './syntax.ts';

interface Cut {
  readonly start: number;
  readonly end: number;
}

/**
 * The text that the server serves: the user's text with its comments, without our directives.
 *
 * @example
 * // 'type User @entity(plural: "users") { id: ID! }' is served as 'type User { id: ID! }'
 * @param moved definitions that are served in another place
 */
export function servedSdl(
  files: readonly ParsedFile[],
  moved: ReadonlySet<DefinitionNode> = NONE_MOVED,
): string {
  // A byte order mark inside the joined text would be a syntax error.
  return files
    .map(({ source, pieces }) =>
      withoutCuts(
        source.text.replace(/^\uFEFF/, ' '),
        pieces.flatMap((piece) => cutsIn(piece, moved)),
      ),
    )
    .join('\n');
}

const NONE_MOVED: ReadonlySet<DefinitionNode> = new Set();

function cutsIn(piece: Piece, moved: ReadonlySet<DefinitionNode>): Cut[] {
  const cuts = piece.definitions.some((each) => moved.has(each))
    ? withMoved(piece, moved)
    : cutsWithin(piece.definitions, [piece.text], () => findCuts(piece));
  return cuts.map(({ start, end }) => ({ start: piece.start + start, end: piece.start + end }));
}

function withMoved(piece: Piece, moved: ReadonlySet<DefinitionNode>): Cut[] {
  return locate(piece).flatMap((located, at) => {
    const isMoved = moved.has(piece.definitions[at]!);
    const nodes = isMoved ? [located] : nodesToCut(located);
    return nodes.map(({ loc }) => ({ start: loc!.start, end: loc!.end }));
  });
}

const cutsWithin = createMemory<readonly DefinitionNode[], readonly Cut[]>();

/**
 * The ranges to remove, as offsets in the piece. Only a piece with such a range is parsed again to
 * find them.
 */
function findCuts(piece: Piece): readonly Cut[] {
  if (!piece.definitions.some((definition) => nodesToCut(definition).length > 0)) return NO_CUTS;
  return locate(piece)
    .flatMap(nodesToCut)
    .map(({ loc }) => ({ start: loc!.start, end: loc!.end }));
}

const NO_CUTS: readonly Cut[] = [];

function nodesToCut(definition: DefinitionNode): readonly (DefinitionNode | ConstDirectiveNode)[] {
  if (isOurDefinition(definition) || isOnlyOurs(definition)) return [definition];
  return usesWithin(definition).flatMap(({ directive }) =>
    isOurDirective(directive) ? [directive] : [],
  );
}

/**
 * `extend type User @entity(plural: "people")`: the whole extension is removed with the directive.
 */
function isOnlyOurs(definition: DefinitionNode): boolean {
  if (definition.kind !== Kind.OBJECT_TYPE_EXTENSION) return false;
  const { fields, interfaces, directives } = definition;
  return !fields?.length && !interfaces?.length && (directives ?? []).every(isOurDirective);
}

function withoutCuts(text: string, cuts: readonly Cut[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end } of cuts.toSorted((a, b) => a.start - b.start)) {
    const before = text.slice(from, start);
    const kept = before.trimEnd();
    parts.push(kept, lineBreak(before.slice(kept.length), text, end));
    from = end;
  }
  return parts.join('') + text.slice(from);
}

const REST_OF_LINE_IS_EMPTY = /[^\S\n]*(?:\n|$)/y;

/**
 * A line break before the directive stays if text follows on the same line, because it may end a
 * comment.
 */
function lineBreak(gap: string, text: string, end: number): string {
  const at = gap.lastIndexOf('\n');
  REST_OF_LINE_IS_EMPTY.lastIndex = end;
  return at < 0 || REST_OF_LINE_IS_EMPTY.test(text) ? '' : gap.slice(at);
}
