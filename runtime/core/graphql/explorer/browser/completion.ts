import {
  membersOf,
  type OpenBracket,
  type DocumentPosition,
  positionAt,
} from './document-position.ts';
import {
  namedType,
  OPERATIONS,
  type ClientSchema,
  type TypeReference,
  typeText,
} from './schema.ts';

/** A word that is valid at the position. */
export interface Suggestion {
  readonly label: string;
  /** The text that is inserted. */
  readonly text: string;
  readonly note: string;
}

export interface Suggestions {
  /** The position of the word that the suggestion replaces. */
  readonly from: number;
  readonly items: readonly Suggestion[];
}

const LIMIT = 40;

/**
 * Words that the schema allows at a position: first those that begin with the typed word, then
 * those that contain it.
 */
export function suggest(schema: ClientSchema, text: string, place: number): Suggestions {
  const position = positionAt(schema, text, place);
  const { typing } = position;
  const word = typing?.text.toLowerCase() ?? '';
  const rank = ({ label }: Suggestion) => (label.toLowerCase().startsWith(word) ? 0 : 1);
  const items = candidates(schema, position)
    .filter(({ label }) => label.toLowerCase().includes(word) && label.toLowerCase() !== word)
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, LIMIT);
  return { from: typing?.at ?? place, items };
}

interface NamedItem {
  readonly name: string;
  readonly type?: TypeReference;
  readonly description?: string | null;
}

const suggestion = (
  { name, type, description }: NamedItem,
  { before = '', after = '' } = {},
): Suggestion => ({
  label: before + name,
  text: before + name + after,
  note: type ? typeText(type) : (description?.split('\n')[0] ?? ''),
});

const plain = (label: string, after = '', note = ''): Suggestion => ({
  label,
  text: label + after,
  note,
});

function candidates(
  schema: ClientSchema,
  { frame, previous, typing }: DocumentPosition,
): Suggestion[] {
  if (typing?.kind === 'directive')
    return schema.directives.map((directive) => suggestion(directive, { before: '@' }));
  if (previous?.text === 'on') return typesOf(schema, ['OBJECT', 'INTERFACE', 'UNION']);
  if (frame.kind === 'variables')
    return previous?.text === ':' || previous?.text === '['
      ? typesOf(schema, ['SCALAR', 'ENUM', 'INPUT_OBJECT'])
      : [];
  if (frame.kind === 'document')
    return [...OPERATIONS.filter((name) => schema[name]), 'fragment'].map((word) =>
      plain(word, ' '),
    );
  if (frame.kind === 'selection')
    return previous?.text === '...' ? [plain('on', ' ')] : fieldsOf(schema, frame);
  if (previous?.text === ':') return valuesOf(schema, frame);
  return membersOf(schema, frame).map((member) => suggestion(member, { after: ': ' }));
}

function typesOf(schema: ClientSchema, kinds: readonly string[]): Suggestion[] {
  return [...schema.types.values()]
    .filter(({ kind, name }) => kinds.includes(kind) && !name.startsWith('__'))
    .map((type) => suggestion(type));
}

function fieldsOf(schema: ClientSchema, { type }: OpenBracket): Suggestion[] {
  const fields = schema.types.get(type ?? '')?.fields ?? [];
  return [...fields.map((field) => suggestion(field)), plain('__typename', '', 'String')];
}

function valuesOf(schema: ClientSchema, frame: OpenBracket): Suggestion[] {
  const member = membersOf(schema, frame).find(({ name }) => name === frame.key);
  const type = member && schema.types.get(namedType(member.type));
  if (type?.enumValues) return type.enumValues.map((value) => suggestion(value));
  return type?.name === 'Boolean'
    ? ['true', 'false'].map((word) => plain(word, '', 'Boolean'))
    : [];
}
