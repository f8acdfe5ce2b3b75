import {
  type Action,
  type Aggregated,
  type Entity,
  type Field,
  type FieldSource,
  type ListOptions,
  type ObjectType,
  type Project,
  projectRoutes,
  QUERY_ROOT,
} from '@twofold/schema';
import { rootNames } from '../../templates/owned/type-names.ts';

/** The facts of `explain` about one field or type. */
export interface Explanation {
  readonly coordinate: string;
  /** Its kind: `entity`, `column`, `relation to one`, `list`, … */
  readonly what: string;
  /** The rule or directive that decided the kind. */
  readonly decidedBy: string;
  /** The table, column or join that stores it. */
  readonly stored?: string;
  /** The REST endpoints that return the field. */
  readonly routes?: readonly string[];
}

/** Whether a function of the user answers a field. */
export type IsUserField = (coordinate: string) => boolean;

/** Every type and field of the model, explained as if no function of the user answered it. */
export function explainAll(project: Project): Explanation[] {
  const names = rootNames(project);
  const routes = projectRoutes(project);
  return [
    ...project.entities.flatMap((entity) => [
      explainEntity(entity, routes),
      ...entity.fields.map((field) => explainField(entity, field, project)),
    ]),
    ...project.objects.filter(({ role }) => role !== 'root').flatMap(explainObject),
    ...project.operations.map((operation) => ({
      coordinate: `${names[operation.root]}.${operation.name}`,
      decidedBy: operation.decidedBy,
      what: describeAction(operation.action),
    })),
  ].map((each) =>
    each.decidedBy === QUERY_ROOT ? { ...each, what: 'the query root again' } : each,
  );
}

const UNWRITTEN =
  'yours to write: it answers NOT_IMPLEMENTED until a function in src/resolvers does';

/**
 * The explanation of a field that the user's function answers. A field that was never inferred
 * keeps the rule that decided it.
 */
export function answeredByCode({ coordinate, what, decidedBy }: Explanation): Explanation {
  return {
    coordinate,
    what: 'yours: a function of yours answers it',
    decidedBy: what === UNWRITTEN ? decidedBy : 'your function',
  };
}

const OBJECTS = {
  value: 'value: stored as JSON where a field has it',
  aggregate: 'numbers over rows, in the one statement',
  payload: 'payload of a mutation',
  connection: 'connection',
  edge: 'edge of a connection',
  pageInfo: 'page info',
  root: 'root',
} as const;

const MEMBERS = {
  value: 'member of a JSON value',
  aggregate: 'number over rows',
  payload: 'member of a payload',
  connection: 'member of a connection',
  edge: 'member of an edge',
  pageInfo: 'member of the page info',
  root: 'root field',
} as const;

function explainObject({ name, role, fields }: ObjectType): Explanation[] {
  return [
    { coordinate: name, what: OBJECTS[role], decidedBy: 'its shape' },
    ...fields.map((field) => ({
      coordinate: `${name}.${field.name}`,
      what: MEMBERS[role],
      decidedBy: 'its shape',
    })),
  ];
}

function explainEntity(entity: Entity, all: ReturnType<typeof projectRoutes>): Explanation {
  const { name, plural } = entity;
  const routes = all.filter(
    ({ path }) => path === restPath(plural) || path.startsWith(`${restPath(plural)}/`),
  );
  return {
    coordinate: name,
    what: 'entity',
    decidedBy: ruleOf(entity),
    stored: tableText(entity),
    ...(routes.length > 0 && { routes: routes.map(({ method, path }) => `${method} ${path}`) }),
  };
}

function ruleOf({ columns }: Entity): string {
  const id = columns.find(({ name }) => name === 'id');
  if (id?.parts) return '@table(key:)';
  return id?.type === 'id' ? 'it has id: ID!' : '@table';
}

/** `table country, key (code)`; a key that is a column `id` is left out. */
function tableText(entity: Entity): string {
  const { schema, table, view } = entity;
  const kind = view ? 'view' : 'table';
  const key = keyColumns(entity).join(', ');
  const place = `${kind} ${schema === undefined ? '' : `${schema}.`}${table}`;
  return key === 'id' || key === '' ? place : `${place}, key (${key})`;
}

/** The database columns of the primary key; none for a view without a key. */
const keyColumns = (entity: Entity): string[] =>
  entity.columns.some(({ name }) => name === 'id') ? storedColumns(entity, 'id') : [];

/** The database columns of a column of the model: a composite key has several. */
function storedColumns({ columns }: Entity, name: string): string[] {
  const named = (each: string) => columns.find((column) => column.name === each);
  const parts = named(name)?.parts ?? [name];
  return parts.map((part) => named(part)?.stored ?? part);
}

/** `posts.author_id`, or `city (country, region_code)` for several columns. */
function placeText(entity: Entity, column: string): string {
  const columns = storedColumns(entity, column);
  return columns.length === 1
    ? `${entity.table}.${columns[0]}`
    : `${entity.table} (${columns.join(', ')})`;
}

function restPath(plural: string): string {
  return `/api/${plural
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase()}`;
}

function explainField(entity: Entity, field: Field, project: Project): Explanation {
  const { source, decidedBy } = field;
  const stored = storedIn(entity, source, project);
  return {
    coordinate: `${entity.name}.${field.name}`,
    what: WHAT[source.kind],
    decidedBy,
    ...(stored !== undefined && { stored }),
  };
}

const WHAT = {
  column: 'column',
  one: 'relation to one',
  many: 'relation to many',
  tally: 'of related rows, in the one statement',
  aggregated: 'numbers over related rows, in the one statement',
  search: 'of a search: null outside of one',
  custom: UNWRITTEN,
} as const;

function storedIn(entity: Entity, source: FieldSource, project: Project): string | undefined {
  if (source.kind === 'custom') return undefined;
  if (source.kind === 'tally') return `${source.of} of ${source.relation}`;
  if (source.kind === 'search')
    return source.of === 'rank'
      ? 'no column'
      : `around the hits in ${placeText(entity, source.column)}`;
  if (source.kind === 'column') return placeText(entity, source.column);
  const other = project.entities.find(({ name }) => name === source.entity);
  const there = (column: string) =>
    other ? placeText(other, column) : `${source.entity}.${column}`;
  if (source.kind === 'one')
    return source.key === 'own' ? placeText(entity, source.column) : there(source.column);
  const { via } = source;
  return via.kind === 'table'
    ? `join table ${via.table} (${[via.own, via.other].flat().join(', ')})`
    : there(via.column);
}

type Described = { readonly [Kind in Action['kind']]: (action: ActionOf<Kind>) => string };
type ActionOf<Kind extends Action['kind']> = Extract<Action, { readonly kind: Kind }>;

const DESCRIBED: Described = {
  get: ({ entity }) => `one ${entity}`,
  caller: ({ entity }) => `the ${entity} who is signed in`,
  list: ({ entity, list }) =>
    `${list.connection ? 'connection' : 'list'} of ${entity}, ${pageOf(list)}`,
  aggregated: (action) => aggregatedText(action),
  listAbstract: ({ type, list }) => `list over every member of ${type}, ${pageOf(list)}`,
  node: () => 'any entity by its global id',
  nodes: () => 'any entities by their global ids, in the order of the ids',
  create: ({ entity }) => `insert of one ${entity}`,
  update: ({ entity }) => `update of one ${entity}`,
  remove: ({ entity }) => `delete of one ${entity}`,
  upsert: ({ entity }) => `update or insert of one ${entity}`,
  createMany: ({ entity }) => `insert of several ${entity}`,
  updateMany: ({ entity }) => `update of several ${entity}`,
  removeMany: ({ entity }) => `delete of several ${entity}`,
  subscribe: ({ on, entity }) => `${on.join(', ')} ${entity}, as it happens`,
  custom: () => UNWRITTEN,
};

const describeAction = (action: Action): string =>
  (DESCRIBED[action.kind] as (action: Action) => string)(action);

const aggregatedText = ({ entity, list, groups }: Aggregated): string =>
  groups
    ? `numbers over groups of ${entity} by ${Object.values(groups.by.values).join(', ')}, ${pageOf(list)}`
    : `numbers over all ${entity} that the filter lets through`;

const pageOf = ({ paging }: ListOptions) => `at most ${paging.max}`;
