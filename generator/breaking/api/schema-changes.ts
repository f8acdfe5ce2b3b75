import {
  BreakingChangeType,
  DangerousChangeType,
  findSchemaChanges,
  type GraphQLSchema,
  specifiedScalarTypes,
} from 'graphql';
import type { Level } from '../change.ts';

/** A change of graphql's with the coordinate that its description names. */
export interface SchemaChange {
  readonly code: string;
  readonly level: Level;
  /** `Post.body`, `Query.posts(limit:)`, `Mood.CALM`, `@cached`. */
  readonly coordinate: string;
  /** The other type: the interface, or the member of a union. */
  readonly other?: string;
  readonly message: string;
}

/**
 * The changes that graphql finds between two schemas.
 *
 * @example
 * schemaChanges(old, next)[0] // { code: 'FIELD_REMOVED', level: 'breaking', coordinate: 'Post.body', … }
 */
export function schemaChanges(before: GraphQLSchema, after: GraphQLSchema): SchemaChange[] {
  return findSchemaChanges(before, after)
    .map(({ type, description }) => ({
      code: type,
      level: levelOf(type),
      ...namedIn(type, description),
      message: description.replace(/\.$/, ''),
    }))
    .filter((change) => !isOfStandardScalar(change));
}

/** graphql counts `Int` as gone when nothing has it any more, which are changes by themselves. */
const isOfStandardScalar = ({ code, coordinate }: SchemaChange) =>
  /^TYPE_(ADDED|REMOVED)$/.test(code) &&
  specifiedScalarTypes.some(({ name }) => name === coordinate);

function levelOf(code: string): Level {
  if (code in BreakingChangeType) return 'breaking';
  return code in DangerousChangeType ? 'dangerous' : 'safe';
}

/** Changes that name two types, the one that the change is about as `at`. */
const PAIRS: Readonly<Record<string, RegExp>> = {
  TYPE_REMOVED_FROM_UNION: /^(?<other>\w+) was removed from union type (?<at>\w+)/,
  TYPE_ADDED_TO_UNION: /^(?<other>\w+) was added to union type (?<at>\w+)/,
  IMPLEMENTED_INTERFACE_REMOVED: /^(?<at>\w+) no longer implements interface (?<other>\w+)/,
  IMPLEMENTED_INTERFACE_ADDED: /^(?<other>\w+) added to interfaces implemented by (?<at>\w+)/,
  DIRECTIVE_LOCATION_REMOVED: /^(?<other>\w+) was removed from (?<at>@\w+)/,
  DIRECTIVE_LOCATION_ADDED: /^(?<other>\w+) was added to (?<at>@\w+)/,
};

/** `Type.field(argument:)`, `@directive(argument:)`, or the name of a type alone. */
const COORDINATE = /@\w+\(\w+:\)|@\w+|\b\w+\.\w+\(\w+:\)|\b\w+\.\w+/;

/** The coordinate of a change. graphql describes a change only by a sentence that contains it. */
function namedIn(code: string, description: string): Pick<SchemaChange, 'coordinate' | 'other'> {
  const pair = PAIRS[code]?.exec(description)?.groups;
  if (pair) return { coordinate: pair['at']!, other: pair['other']! };
  if (code.startsWith('TYPE_')) return { coordinate: typeIn(description) };
  // The new text of a description may contain anything, also coordinates, so it is cut off.
  const sentence = description.replace(/ (has changed to "|defaultValue ).*/s, '');
  return { coordinate: COORDINATE.exec(sentence)?.[0] ?? typeIn(sentence) };
}

const typeIn = (description: string) =>
  /^(?:Standard scalar |Description of )?(\w+)/.exec(description)?.[1] ?? '';
