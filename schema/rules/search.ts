import type { ASTNode } from 'graphql';
import type { Built } from '../build/built.ts';
import { coordinate, type EntityFact, type FieldFact } from '../build/facts.ts';
import { defaultFieldRules } from '../build/identity.ts';
import { LANGUAGES, searchedColumn } from '../build/search.ts';
import { userEntity } from '../build/user.ts';
import { didYouMean } from '../did-you-mean.ts';
import type { SearchUse } from '../directives/search.ts';
import type { Finding } from '../parse/places.ts';
import { finding, onType, quoted, removed, retyped, type Rule } from './finding.ts';

/**
 * SEARCH_FIELD, SEARCH_FIELD_GUARDED, SEARCH_LANGUAGE, SEARCH_UNMANAGED: the arguments of `@search`
 * must be valid.
 */
export const search: Rule = function* (built) {
  const { facts } = built;
  for (const entity of facts.entities.values()) {
    const use = entity.directives.search;
    if (use) yield* ofType(built, entity, use);
    for (const field of entity.fields.values()) yield* ofField(entity, field);
  }
  for (const { type, role, directives } of facts.types.values())
    if (role !== 'entity' && directives.search)
      yield finding('SEARCH_FIELD', directives.search.node, {
        summary: `${type.name} cannot be searched`,
        why: 'the type is not kept in a table',
        fix: 'remove @search',
        changes: removed(directives.search.node),
      });
};

function* ofType(built: Built, entity: EntityFact, use: SearchUse): Generator<Finding> {
  if (!built.facts.manifest.values.database.managed || entity.key?.length === 0)
    return yield unmanaged(entity, use);
  if (use.as !== undefined || use.of !== undefined)
    yield finding('SEARCH_FIELD', use.node, {
      summary: `@search on ${entity.name} says as or of`,
      why: 'a type says which fields are searched; as and of are for a field that shows something',
      fix: '@search(fields: ["title"])',
    });
  if (!use.fields?.length)
    yield finding('SEARCH_FIELD', use.node, {
      summary: `@search on ${entity.name} names no field`,
      fix: `@search(fields: [${textFields(built, entity).map(quoted).join(', ') || '…'}])`,
    });
  for (const name of use.fields ?? []) yield* searched(built, entity, { name, at: use.node });
  if (use.language !== undefined && !LANGUAGES.includes(use.language))
    yield unknownLanguage(entity, use.language, use.node);
}

function unmanaged({ name, key }: EntityFact, { node }: SearchUse): Finding {
  const why =
    key?.length === 0
      ? 'a row without a key cannot be found again'
      : 'with database.managed: false the generator makes nothing in the database, ' +
        'and a search needs an index that is kept on every write';
  return finding('SEARCH_UNMANAGED', node, {
    summary: `${name} cannot be searched`,
    why,
    fix: 'remove @search and the argument search; a function of yours may search the index that is there',
    changes: removed(node),
  });
}

function unknownLanguage(entity: EntityFact, language: string, at: ASTNode): Finding {
  const meant = didYouMean(language, LANGUAGES);
  return finding('SEARCH_LANGUAGE', at, {
    summary: `There is no language ${quoted(language)} to search in`,
    why: 'it is the name of a text search configuration of PostgreSQL',
    fix: meant ?? `one of ${LANGUAGES.join(', ')}`,
    changes: LANGUAGES.includes(language.toLowerCase())
      ? [onType(entity, 'search', { language: quoted(language.toLowerCase()) })]
      : undefined,
  });
}

interface Named {
  readonly name: string;
  readonly at: ASTNode;
}

function* searched(built: Built, entity: EntityFact, { name, at }: Named): Generator<Finding> {
  const field = entity.fields.get(name);
  const known = textFields(built, entity);
  if (!field || !searchedColumn(built.shapes, entity, name))
    return yield finding('SEARCH_FIELD', at, {
      summary: field
        ? `${coordinate(field)} cannot be searched`
        : `${entity.name} has no field ${name}`,
      ...(field && { why: `it is ${field.type.text}, and only text has words` }),
      fix: didYouMean(name, known) ?? `one of ${known.join(', ')}`,
    });
  if (isGuarded(built, field))
    yield finding('SEARCH_FIELD_GUARDED', at, {
      summary: `${coordinate(field)} cannot be searched`,
      why: 'it has access rules of its own, and a search would tell those who may not read it what it holds',
      fix: `remove ${quoted(name)} from @search, or move the rule to the type`,
    });
}

const isGuarded = ({ facts }: Built, field: FieldFact): boolean =>
  field.directives.auth.length > 0 || defaultFieldRules(userEntity(facts), field).length > 0;

function textFields(built: Built, entity: EntityFact): string[] {
  return [...entity.fields.values()]
    .filter(
      (field) =>
        searchedColumn(built.shapes, entity, field.name) !== undefined && !isGuarded(built, field),
    )
    .map(({ name }) => name);
}

function* ofField(entity: EntityFact, field: FieldFact): Generator<Finding> {
  const use = field.directives.search;
  if (!use) return;
  const at = use.node;
  const what = `@search on ${coordinate(field)}`;
  if (!entity.directives.search)
    yield finding('SEARCH_FIELD', at, {
      summary: `${what} shows nothing`,
      why: `${entity.name} has no @search(fields:)`,
      fix: `type ${entity.name} @search(fields: […])`,
    });
  if (use.fields || use.language !== undefined)
    yield finding('SEARCH_FIELD', at, {
      summary: `${what} says fields or language`,
      why: 'these are for the type',
      fix: '@search(as: RANK)   or   @search(as: HIGHLIGHT, of: "title")',
    });
  if (use.as === undefined)
    yield finding('SEARCH_FIELD', at, {
      summary: `${what} does not say what the field shows`,
      fix: '@search(as: RANK)   or   @search(as: HIGHLIGHT, of: "title")',
    });
  else yield* shown(entity, field, { ...use, as: use.as });
}

function* shown(
  entity: EntityFact,
  field: FieldFact,
  { as, of, node }: SearchUse & { readonly as: string },
): Generator<Finding> {
  const wanted = as === 'RANK' ? 'Float' : 'String';
  if (field.type.text !== wanted || field.args.length > 0)
    yield finding('SEARCH_FIELD', field.node, {
      summary: `${coordinate(field)} is ${field.type.text}, and @search(as: ${as}) gives ${wanted}`,
      why: 'it is null outside a search',
      changes: [retyped(field, wanted)],
    });
  const fields = entity.directives.search?.fields ?? [];
  if (as === 'RANK' || (of !== undefined && fields.includes(of))) return;
  const meant = of === undefined ? undefined : didYouMean(of, fields);
  yield finding('SEARCH_FIELD', node, {
    summary:
      of === undefined
        ? `@search on ${coordinate(field)} does not say whose text it shows`
        : `@search on ${coordinate(field)} shows ${of}, which is not searched`,
    fix: meant ?? `@search(as: HIGHLIGHT, of: ${quoted(fields[0] ?? '…')})`,
  });
}
