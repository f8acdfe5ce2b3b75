import { isAbstractType } from 'graphql';
import type { Argument, FieldSource, Search } from '../model.ts';
import { storedAs } from './columns.ts';
import { connectionOf } from './connections.ts';
import type { EntityFact, FieldFact, Facts } from './facts.ts';
import { namedColumn } from './named-columns.ts';
import type { NamedColumn, Shapes } from './shapes.ts';

/** The configurations that PostgreSQL 13 and later bring with them. SQLite has the first two. */
export const LANGUAGES: readonly string[] = [
  'simple',
  'english',
  'arabic',
  'armenian',
  'basque',
  'catalan',
  'danish',
  'dutch',
  'finnish',
  'french',
  'german',
  'greek',
  'hindi',
  'hungarian',
  'indonesian',
  'irish',
  'italian',
  'lithuanian',
  'nepali',
  'norwegian',
  'portuguese',
  'romanian',
  'russian',
  'serbian',
  'spanish',
  'swedish',
  'tamil',
  'turkish',
  'yiddish',
];

/** A field that `@search` names: a column with text, no list and no key. */
export function searchedColumn(
  shapes: Shapes,
  entity: EntityFact,
  name: string,
): NamedColumn | undefined {
  const field = entity.fields.get(name);
  const column = field && namedColumn(shapes, entity, name);
  if (!column || column.field !== field || column.key) return undefined;
  return field.type.kind === 'scalar' && storedAs(field, shapes.facts) === 'text'
    ? column
    : undefined;
}

/**
 * The search of a type with `@search`; undefined without one, and when no field of it can be
 * searched.
 *
 * @example searchOf(shapes, post) // { columns: ['title', 'body'], language: 'english' }
 */
export function searchOf(shapes: Shapes, entity: EntityFact): Search | undefined {
  const use = entity.directives.search;
  if (!use || !shapes.facts.manifest.values.database.managed || entity.key?.length === 0)
    return undefined;
  const columns = (use.fields ?? []).flatMap(
    (name) => searchedColumn(shapes, entity, name)?.column ?? [],
  );
  const language = use.language ?? 'simple';
  return columns.length === 0
    ? undefined
    : {
        columns: [...new Set(columns)],
        language: LANGUAGES.includes(language) ? language : 'simple',
      };
}

/** The result of a search that a field with `@search(as:)` shows; undefined for any other field. */
export function searchSource(shapes: Shapes, field: FieldFact): FieldSource | undefined {
  const use = field.directives.search;
  if (!use) return undefined;
  if (use.as === 'RANK') return { kind: 'search', of: 'rank' };
  const entity = shapes.facts.entities.get(field.owner);
  const column = entity && use.of !== undefined && searchedColumn(shapes, entity, use.of);
  return column ? { kind: 'search', of: 'highlight', column: column.column } : { kind: 'custom' };
}

/** The name of the argument that searches. */
const SEARCH = 'search';

interface Searching {
  readonly field: FieldFact;
  /** The entity of the rows; undefined for an interface or a union. */
  readonly entity: EntityFact | undefined;
}

/**
 * Whether an argument searches: `search: String` where every type of the rows has `@search`. A type
 * with a field of this name and without `@search` is filtered by it.
 */
export function isSearch(
  { facts }: Shapes,
  { name, type }: Argument,
  { field, entity }: Searching,
): boolean {
  if (name !== SEARCH || type.name !== 'String' || type.list) return false;
  const members = entity ? [entity] : membersOf(facts, field);
  return members.length > 0 && members.every((each) => each?.directives.search !== undefined);
}

/**
 * The entities of an interface or union, when that is the type of a list or of a connection's
 * nodes.
 */
function membersOf(facts: Facts, { named }: FieldFact): (EntityFact | undefined)[] {
  const type = connectionOf(named.name, facts)?.node ?? named;
  return isAbstractType(type)
    ? facts.schema.getPossibleTypes(type).map(({ name }) => facts.entities.get(name))
    : [];
}
