import { locationOf } from '@twofold/schema';
import type { SourceText } from '@twofold/schema';
import { type ASTNode, Kind, type NameNode, parse } from 'graphql';
import type { Place } from '../change.ts';

/** Looks up where a schema declares a coordinate. */
export type Places = (coordinate: string) => Place | undefined;

/**
 * Where each type, field, argument, value and directive of a schema stands. The texts are parsed
 * only when the first place is asked for. A member that is not declared has the place of its type.
 *
 * @example placesOf(sources.schema)('Post.body') // { file: 'schema.graphql', line: 12, column: 3 }
 */
export function placesOf(texts: readonly SourceText[]): Places {
  let known: Map<string, Place> | undefined;
  return (coordinate) => {
    known ??= new Map(texts.flatMap(placesIn));
    for (let name = coordinate; name !== ''; name = ownerOf(name)) {
      const place = known.get(name);
      if (place) return place;
    }
    return undefined;
  };
}

/** `Query.posts(limit:)` → `Query.posts` → `Query` → nothing. */
function ownerOf(coordinate: string): string {
  const at = Math.max(coordinate.lastIndexOf('('), coordinate.lastIndexOf('.'));
  return at < 0 ? '' : coordinate.slice(0, at);
}

type Named = ASTNode & { readonly name: NameNode };

function placesIn({ file, text }: SourceText): [string, Place][] {
  const found: [string, Place][] = [];
  const add = (coordinate: string, { name }: Named) => {
    const { line, column } = locationOf(name).startToken;
    found.push([coordinate, { file, line, column }]);
  };
  for (const node of parse(text).definitions) {
    if (!('name' in node) || !node.name || node.kind === Kind.FRAGMENT_DEFINITION) continue;
    const owner = `${node.kind === Kind.DIRECTIVE_DEFINITION ? '@' : ''}${node.name.value}`;
    if (!node.kind.endsWith('Extension')) add(owner, node as Named);
    for (const member of membersOf(node)) {
      add(`${owner}.${member.name.value}`, member);
      for (const argument of argumentsOf(member))
        add(`${owner}.${member.name.value}(${argument.name.value}:)`, argument);
    }
    for (const argument of argumentsOf(node)) add(`${owner}(${argument.name.value}:)`, argument);
  }
  return found;
}

function membersOf(node: ASTNode): readonly Named[] {
  if ('fields' in node) return (node.fields ?? []) as readonly Named[];
  return 'values' in node ? ((node.values ?? []) as readonly Named[]) : [];
}

const argumentsOf = (node: ASTNode): readonly Named[] =>
  'arguments' in node ? ((node.arguments ?? []) as readonly Named[]) : [];
