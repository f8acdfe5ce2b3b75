import type { AuthRule, Entity, Field, FieldSource, Index, ListOptions, Many } from '../model.ts';
import { indexName, pluralize, camelCase, snakeCase } from '../names.ts';
import { userEntity } from './user.ts';
import { aggregatedEntity, aggregatedOf, stemOf } from './aggregated.ts';
import { tallyOf } from './tallies.ts';
import { searchOf, searchSource } from './search.ts';
import { authRules } from './access.ts';
import { storedAs, uniqueName } from './columns.ts';
import { isQueryRoot, QUERY_ROOT, type EntityFact, type FieldFact } from './facts.ts';
import { identityIndexes } from './identity-indexes.ts';
import { defaultFieldRules, defaultRules } from './identity.ts';
import { listOptions, pagedArguments } from './list-options.ts';
import { paged } from '../implied-lists.ts';
import type { ForeignKey } from './key-parts.ts';
import type { Link } from './links.ts';
import { connectionOf } from './connections.ts';
import { heldEntity } from './values.ts';
import { namedColumn } from './named-columns.ts';
import { attempt, isListEnd, Refusal, type Shapes } from './shapes.ts';
import { fellowRules, tenantRules } from './tenant.ts';

/** An entity of the model, and those of its lists whose arguments could not be inferred. */
export interface BuiltEntity {
  readonly entity: Entity;
  readonly refusals: readonly { readonly field: FieldFact; readonly refusal: Refusal }[];
}

/**
 * An entity with its fields, columns, indexes and rules.
 *
 * @example
 * buildEntity(shapes, user).entity.table // 'users'
 */
export function buildEntity(shapes: Shapes, fact: EntityFact): BuiltEntity {
  const refusals: { field: FieldFact; refusal: Refusal }[] = [];
  const fields = [...fact.fields.values()].map((field) => {
    const { source, decidedBy, refusal } = sourceOf(shapes, field);
    if (refusal) refusals.push({ field, refusal });
    return buildField(shapes, fact, field, source, decidedBy);
  });
  const type = shapes.facts.types.get(fact.name)?.type;
  const renamed = fact.directives.renamed;
  const entity: Entity = {
    name: fact.name,
    singular: fact.singular,
    plural: fact.plural,
    table: fact.table,
    ...(fact.schema !== undefined && { schema: fact.schema }),
    ...(isView(fact) && { view: true }),
    ...(type?.description && { description: type.description }),
    fields,
    columns: shapes.columns.get(fact.name) ?? [],
    indexes: [
      ...buildIndexes(shapes, fact),
      ...(userEntity(shapes.facts) === fact ? identityIndexes(shapes, fact) : []),
    ],
    ...searchMember(shapes, fact),
    rules: [
      ...authRules(shapes, fact.directives.auth, fact.name),
      ...(userEntity(shapes.facts) === fact ? fellowRules(shapes.facts, defaultRules(fact)) : []),
      ...tenantRules(shapes.facts, fact),
    ],
    interfaces: type?.getInterfaces().map((face) => face.name) ?? [],
    ...(renamed !== undefined &&
      !fact.directives.entity?.table && { renamedFrom: snakeCase(pluralize(camelCase(renamed))) }),
    ...(fact.directives.entity?.softDelete && { softDelete: 'deleted_at' }),
  };
  return { entity, refusals };
}

function searchMember(shapes: Shapes, fact: EntityFact): Pick<Entity, 'search'> {
  const search = searchOf(shapes, fact);
  return search ? { search } : {};
}

function buildField(
  shapes: Shapes,
  entity: EntityFact,
  field: FieldFact,
  source: FieldSource,
  decidedBy: string,
): Field {
  const { description, deprecationReason } = field.field;
  return {
    name: field.name,
    type: field.type,
    args: pagedArguments(field, 'list' in source ? source.list : undefined),
    ...(description && { description }),
    ...(deprecationReason && { deprecated: deprecationReason }),
    source,
    rules: fieldRules(shapes, entity, field),
    decidedBy,
  };
}

/**
 * The rules of a field. Lists and numbers over a relation's rows have the rules of the relation,
 * unless they have their own.
 */
function fieldRules(shapes: Shapes, entity: EntityFact, field: FieldFact): readonly AuthRule[] {
  const own = [
    ...authRules(shapes, field.directives.auth, entity.name),
    ...defaultFieldRules(userEntity(shapes.facts), field),
  ];
  const shown = own.length === 0 ? shownRelation(shapes, field) : undefined;
  return shown ? fieldRules(shapes, entity, shown) : own;
}

/** The list of the type whose rows the field shows or counts; undefined for that list itself. */
function shownRelation(shapes: Shapes, field: FieldFact): FieldFact | undefined {
  const view = shapes.links.views.of.get(field);
  if (view) return view;
  const summed = aggregatedEntity(field, shapes.facts);
  if (!summed) return undefined;
  const beside = attempt(() => relationBeside(shapes, field, summed));
  return beside instanceof Refusal ? undefined : beside.field;
}

/** A type without a key can only be read, even if the database has it as a table. */
const isView = ({ directives, key }: EntityFact): boolean =>
  directives.table?.view === true || key?.length === 0;

interface Source {
  readonly source: FieldSource;
  readonly decidedBy: string;
  readonly refusal?: Refusal;
}

function sourceOf(shapes: Shapes, field: FieldFact): Source {
  if (field.name === 'id') return { source: { kind: 'column', column: 'id' }, decidedBy: 'key' };
  if (field.directives.computed) return { source: { kind: 'custom' }, decidedBy: '@computed' };
  if (isQueryRoot(shapes.facts, field))
    return { source: { kind: 'custom' }, decidedBy: QUERY_ROOT };
  const counted = tallyOf(shapes, field);
  if (counted)
    return {
      source: 'source' in counted ? counted.source : { kind: 'custom' },
      decidedBy: field.directives.count ? '@count' : '@exists',
    };
  const searched = searchSource(shapes, field);
  if (searched) return { source: searched, decidedBy: '@search' };
  const link = shapes.links.byField.get(field);
  if (link) return linkSource(shapes, field, link);
  const summed = aggregatedEntity(field, shapes.facts);
  if (summed) return aggregatedSource(shapes, field, summed);
  const stored = storedAs(field, shapes.facts);
  if (stored)
    return {
      source: { kind: 'column', column: field.snakeName },
      decidedBy: stored === 'json' ? 'JSON column' : 'column',
    };
  const refusal = refusalOf(shapes, field);
  return { source: { kind: 'custom' }, decidedBy: 'stub', ...(refusal && { refusal }) };
}

/** Numbers over the rows of a list beside the field, or of the only relation between the types. */
function aggregatedSource(shapes: Shapes, field: FieldFact, entity: EntityFact): Source {
  const found = attempt((): Source => {
    const action = aggregatedOf(shapes, field, entity);
    const { via } = relationBeside(shapes, field, entity);
    return { source: { ...action, via }, decidedBy: action.groups ? 'groups' : 'aggregate' };
  });
  return found instanceof Refusal
    ? { source: { kind: 'custom' }, decidedBy: 'stub', refusal: found }
    : found;
}

/** How the rows of another type can be reached from a type. */
interface Beside {
  readonly via: Many['via'];
  /** The list that shows the rows, if there is one. */
  readonly field?: FieldFact;
}

/**
 * How the rows belong to the parent: by the list with the same name, or else by the only relation
 * between the two types.
 */
function relationBeside(shapes: Shapes, field: FieldFact, entity: EntityFact): Beside {
  const owner = shapes.facts.entities.get(field.owner);
  const lists = [...(owner?.fields.values() ?? [])].flatMap((each) => {
    const link = isListEnd(shapes, each) ? shapes.links.byField.get(each) : undefined;
    return link?.entity === entity.name ? [{ field: each, via: viaOf(link) }] : [];
  });
  const stem = field.directives.list?.relation ?? stemOf(field.name);
  const named = lists.find(({ field: { name } }) => name === stem || name === `${stem}Connection`);
  if (named) return named;
  const ways = new Map<string, Beside>();
  for (const list of lists) addWay(ways, list);
  for (const key of shapes.links.keys.get(entity.name) ?? [])
    if (key.target === field.owner) {
      addWay(ways, { via: viaOf({ kind: 'other', entity: entity.name, key }) });
    }
  const [only] = [...ways.values()];
  if (only && ways.size === 1) return only;
  throw new Refusal(
    `${ways.size === 0 ? 'nothing leads' : 'more than one list leads'} from ${field.owner} to ${entity.name}, ` +
      'and the name of the field says none of them',
  );
}

function addWay(ways: Map<string, Beside>, way: Beside): void {
  const key = JSON.stringify(way.via);
  if (!ways.has(key)) ways.set(key, way);
}

/** Why the user has to write a field; undefined if another finding already says so. */
function refusalOf(shapes: Shapes, field: FieldFact): Refusal | undefined {
  const { links, facts } = shapes;
  const isDoubtful = links.doubts.some(
    (doubt) => doubt.field === field || doubt.candidates.includes(field),
  );
  if (isDoubtful || (field.args.length === 0 && heldEntity(field.named.name, facts)))
    return undefined;
  const list =
    isListEnd(shapes, field) &&
    attempt(() => listOptions(shapes, field, listedEntity(shapes, field)));
  return list instanceof Refusal ? list : new Refusal(notStored(field));
}

function listedEntity({ facts }: Shapes, { named }: FieldFact): EntityFact | undefined {
  return facts.entities.get((connectionOf(named.name, facts)?.node ?? named).name);
}

function notStored({ args, type }: FieldFact): string {
  if (args.length > 0 && !type.list) return 'it has arguments, and what is stored has none';
  if (type.kind === 'interface' || type.kind === 'union')
    return type.list
      ? 'a list of several types has no place in a table'
      : `not every member of ${type.name} is kept in a table`;
  return `${type.name} is no value that is stored`;
}

function linkSource(shapes: Shapes, field: FieldFact, link: Link): Source {
  const directive = field.directives.relation ? '@relation' : undefined;
  const inverse = link.inverse && { inverse: link.inverse.name };
  if (!isListEnd(shapes, field)) {
    if (link.kind === 'join') return { source: { kind: 'custom' }, decidedBy: 'stub' };
    const key = link.kind === 'own' ? 'own' : 'inverse';
    const { column, typeColumn } = link.key;
    return {
      source: {
        kind: 'one',
        entity: link.entity,
        key,
        column,
        ...toColumn(link.key),
        ...inverse,
        ...(typeColumn && { typeColumn }),
      },
      decidedBy: directive ?? (key === 'own' ? 'foreign key' : 'inverse of a foreign key'),
    };
  }
  const list = attempt(() => listOptions(shapes, field, shapes.facts.entities.get(link.entity)));
  if (list instanceof Refusal)
    return { source: { kind: 'custom' }, decidedBy: 'stub', refusal: list };
  return {
    source: manySource(link, paged(list), inverse),
    decidedBy: directive ?? listDecidedBy(link),
  };
}

const listDecidedBy = (link: Link): string =>
  link.kind !== 'join' ? 'inverse of a foreign key' : link.managed ? 'membership' : 'join table';

function manySource(link: Link, list: ListOptions, inverse: { inverse: string } | undefined): Many {
  return { kind: 'many', entity: link.entity, via: viaOf(link), ...inverse, list };
}

function viaOf(link: Link): Many['via'] {
  if (link.kind === 'join')
    return {
      kind: 'table',
      table: link.table,
      ...(link.schema !== undefined && { schema: link.schema }),
      own: link.own,
      other: link.other,
      ...(link.managed && { managed: true }),
    };
  const { column, typeColumn } = link.key;
  return { kind: 'column', column, ...toColumn(link.key), ...(typeColumn && { typeColumn }) };
}

const toColumn = ({ references }: ForeignKey) => (references ? { to: uniqueName(references) } : {});

/**
 * The indexes of a table: one for each foreign key, because rows are looked up by it from the other
 * side, then those of `@index`. One of these that begins with the foreign key serves its lookups.
 */
function buildIndexes(shapes: Shapes, entity: EntityFact): Index[] {
  const index = (columns: readonly string[], unique: boolean): Index => ({
    name: indexName(entity.table, columns, unique),
    columns,
    unique,
  });
  const written = entity.directives.indexes.flatMap(({ fields, unique }) => {
    const columns = fields.flatMap((name) => namedColumn(shapes, entity, name)?.column ?? []);
    return columns.length === fields.length && columns.length > 0 ? [index(columns, unique)] : [];
  });
  const looked = (shapes.links.keys.get(entity.name) ?? []).flatMap(
    ({ unique, typeColumn, column }) => {
      const columns = typeColumn ? [typeColumn, column] : [column];
      const served = unique || written.some((each) => beginsWith(each.columns, columns));
      return served ? [] : [index(columns, false)];
    },
  );
  const all = [...looked, ...written];
  return all.filter(({ name }, at) => all.findIndex((each) => each.name === name) === at);
}

const beginsWith = (columns: readonly string[], first: readonly string[]): boolean =>
  first.every((name, at) => columns[at] === name);
