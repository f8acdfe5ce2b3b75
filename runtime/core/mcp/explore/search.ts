import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isInterfaceType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql';

/** A part of the schema that a search found. */
export interface SchemaMatch {
  /** `Post.title`, `Query.post(id:)`, `Status.OPEN`. */
  readonly coordinate: string;
  /** The type of a field or argument; `type`, `input` … of a type. */
  readonly is: string;
  readonly description?: string;
}

interface Entry extends SchemaMatch {
  /** The words of the coordinate, and the words of the description. */
  readonly names: ReadonlySet<string>;
  readonly said: ReadonlySet<string>;
}

/**
 * The score of a word by where it was found. A name that begins with the word scores less than the
 * word itself.
 */
const SCORES = { name: 8, begins: 5, said: 2 };

/** The longest description in a result; `introspect` has all of it. */
const DESCRIPTION = 160;

/**
 * Makes a function that finds parts of a schema by words, the best first. The words of the schema
 * are read once.
 *
 * @example createSearch(schema)('post title')[0].coordinate // 'Post.title'
 */
export function createSearch(schema: GraphQLSchema): (query: string) => readonly SchemaMatch[] {
  const entries = Object.values(schema.getTypeMap())
    .filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type))
    .flatMap((type) => [...entriesOf(type)]);
  return (query) => {
    const words = [...new Set(wordsOf(query.slice(0, 200)))].slice(0, 12);
    return entries
      .map((entry) => ({ entry, score: scoreOf(entry, words) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || compare(a.entry, b.entry))
      .map(({ entry: { coordinate, is, description } }) => ({
        coordinate,
        is,
        ...(description !== undefined && { description }),
      }));
  };
}

/** Sorts by score; for equal scores, the shorter coordinate comes first. */
const compare = (a: SchemaMatch, b: SchemaMatch): number =>
  a.coordinate.length - b.coordinate.length || (a.coordinate < b.coordinate ? -1 : 1);

function* entriesOf(type: GraphQLNamedType): Generator<Entry> {
  yield entry(type.name, kindOf(type), type.description);
  if (isEnumType(type))
    for (const value of type.getValues())
      yield entry(`${type.name}.${value.name}`, 'value', value.description);
  if (isInputObjectType(type))
    for (const field of Object.values(type.getFields()))
      yield entry(`${type.name}.${field.name}`, String(field.type), field.description);
  if (isObjectType(type) || isInterfaceType(type))
    for (const field of Object.values(type.getFields())) yield* fieldEntries(type.name, field);
}

function* fieldEntries(owner: string, field: GraphQLField<unknown, unknown>): Generator<Entry> {
  const { name, type, description, args } = field;
  const given = args.map((argument) => `${argument.name}: ${String(argument.type)}`).join(', ');
  const is = args.length > 0 ? `(${given}): ${String(type)}` : String(type);
  yield entry(`${owner}.${name}`, is, description);
  for (const argument of args)
    if (argument.description)
      yield entry(
        `${owner}.${name}(${argument.name}:)`,
        String(argument.type),
        argument.description,
      );
}

function entry(coordinate: string, is: string, said: string | null | undefined): Entry {
  const short = said ? shortened(said) : undefined;
  return {
    coordinate,
    is,
    ...(short !== undefined && { description: short }),
    names: new Set(wordsOf(coordinate)),
    said: new Set(said ? wordsOf(said) : []),
  };
}

const shortened = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= DESCRIPTION ? line : `${line.slice(0, DESCRIPTION - 1)}…`;
};

const kindOf = ({ astNode }: GraphQLNamedType): string =>
  astNode
    ? astNode.kind.replace('TypeDefinition', '').replace('InputObject', 'input').toLowerCase()
    : 'type';

/** The words of a text: `createdAt` has two, and `posts` becomes `post`. */
function wordsOf(text: string): string[] {
  const apart = text.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2');
  return (apart.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map(singular);
}

const singular = (word: string): string =>
  word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;

function scoreOf({ names, said }: Entry, words: readonly string[]): number {
  let score = 0;
  for (const word of words) {
    if (names.has(word)) score += SCORES.name;
    else if (word.length > 2 && [...names].some((name) => name.startsWith(word)))
      score += SCORES.begins;
    else if (said.has(word)) score += SCORES.said;
  }
  return score;
}
