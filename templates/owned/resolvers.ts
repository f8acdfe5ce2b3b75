import {
  impliedList,
  QUERY_ROOT,
  remembered,
  type Action,
  type Aggregated,
  type AggregatedRelation,
  type ArgumentPath,
  type Entity,
  type FieldSource,
  type ImpliedList,
  type ListOptions,
  type Many,
  type One,
  type Operation,
  type Project,
  type Returns,
  type RowKey,
  first,
} from '@twofold/schema';
import { isSame, literal, propertyName, str, type LiteralValue } from '../literal.ts';
import { code, file, join, local, runtime, HEADER, type Code } from '../code.ts';
import { sorted } from './model.ts';
import { rootNames } from './type-names.ts';

/**
 * `src/generated/resolvers.ts`: the inferred resolver of each field, and the user's own functions.
 */
export function renderResolvers(project: Project, userTypes: readonly string[]): string {
  const types = sorted([...rootFields(project), ...entityFields(project)], ({ name }) => name);
  return file(
    HEADER,
    code`
      /** The resolver of each field. A field that is not listed is a column, or a property of its parent's value. */
      export const fields = {
        ${types.map(
          ({ name, fields }) => code`
          ${propertyName(name)}: {
            ${fields},
          },
        `,
        )}
      };

      ${userTypes.length > 0 && renderUserResolvers(userTypes)}
    `,
  );
}

function renderUserResolvers(userTypes: readonly string[]): Code {
  const entries = sorted(userTypes, (name) => name).map(
    (name) => code`
    ${propertyName(name)}: ${local(`../resolvers/${name}.ts`, 'resolvers', `of${name}`)},
  `,
  );
  return code`
    /** Your functions: each replaces the inferred resolver above. */
    export const resolvers = {
      ${entries}
    };
  `;
}

/** The options of a call, by name. */
interface Words {
  readonly [word: string]: LiteralValue;
}

interface TypeFields {
  readonly name: string;
  readonly fields: Code;
}

function rootFields(project: Project): TypeFields[] {
  const names = rootNames(project);
  return (['query', 'mutation', 'subscription'] as const).flatMap((root) => {
    const operations = project.operations.filter(
      (operation) => operation.root === root && operation.decidedBy !== QUERY_ROOT,
    );
    return operations.length > 0
      ? [{ name: names[root], fields: join(operations.map(renderOperation), ',\n') }]
      : [];
  });
}

function entityFields(project: Project): TypeFields[] {
  return project.entities
    .map((entity) => ({ name: entity.name, fields: renderFields(entity) }))
    .filter(({ fields }) => fields.text !== '');
}

const renderOperation = remembered(
  ({ name, action }: Operation): Code => code`${propertyName(name)}: ${renderAction(action)}`,
);

const renderFields = remembered(({ fields }: Entity): Code =>
  join(
    fields.flatMap((field) =>
      field.source.kind === 'column' || field.decidedBy === QUERY_ROOT
        ? []
        : [code`${propertyName(field.name)}: ${renderSource(field.source)}`],
    ),
    ',\n',
  ),
);

function renderAction(action: Action): Code {
  switch (action.kind) {
    case 'get': {
      const by = Object.fromEntries(action.by.map(({ arg, column }) => [arg, column]));
      return call('get', [
        action.entity,
        by,
        unlessEmpty({ unique: action.unique ? undefined : false }),
      ]);
    }
    case 'caller':
      return call('caller', [action.entity]);
    case 'list':
      return call('list', [action.entity, shortWords(action.entity, listWords(action.list))]);
    case 'aggregated':
      return aggregatedCall(action);
    case 'listAbstract':
      return call('listAbstract', [action.type, listWords(action.list)]);
    case 'node':
    case 'nodes':
      return call(action.kind, [action.arg]);
    case 'create':
      return call('create', [action.entity, writeWords(action)]);
    case 'update':
      return call('update', [action.entity, keyWords(action), writeWords(action)]);
    case 'remove':
      return call('remove', [
        action.entity,
        keyWords(action),
        unlessEmpty({ version: action.version, returns: returnWords(action.returns) }),
      ]);
    case 'subscribe':
      return call('subscribe', [action.entity, [...action.on], unlessEmpty({ id: action.id })]);
    case 'custom':
      return call('custom', []);
    default:
      return renderFurtherWrite(action);
  }
}

const writeWords = ({
  write,
  input,
  beside,
  returns,
}: Extract<Action, { kind: 'create' | 'update' }>) => ({
  write,
  input,
  beside: beside && [...beside],
  returns: returnWords(returns),
});

type FurtherWrite = Extract<
  Action,
  { kind: 'upsert' | 'createMany' | 'updateMany' | 'removeMany' }
>;

/** The call for a write of one row that may not exist, or of several rows. */
function renderFurtherWrite(action: FurtherWrite): Code {
  const { kind: _kind, entity, returns, ...words } = action;
  return call(action.kind, [
    entity,
    { ...(words as unknown as Words), returns: returnWords(returns) },
  ]);
}

/**
 * The options that name a row: the path of its id in the arguments, or the arguments that are a
 * unique key.
 */
const keyWords = ({
  id,
  by,
}: {
  readonly id?: ArgumentPath;
  readonly by?: RowKey;
}): LiteralValue => (id ? [...id] : ((by ?? []) as unknown as LiteralValue));

function renderSource(source: Exclude<FieldSource, { kind: 'column' }>): Code {
  switch (source.kind) {
    case 'one':
      return call('one', [source.entity, source.column, unlessEmpty(oneWords(source))]);
    case 'many':
      return call('many', [
        source.entity,
        viaWords(source.via),
        { inverse: source.inverse, ...shortWords(source.entity, listWords(source.list)) },
      ]);
    case 'tally':
      return call(source.of, [
        source.entity,
        source.relation,
        source.where as unknown as LiteralValue,
      ]);
    case 'aggregated':
      return aggregatedCall(source);
    case 'search':
      return source.of === 'rank'
        ? call('searchRank', [])
        : call('searchHighlight', [source.column]);
    case 'custom':
      return call('custom', []);
  }
}

/** The call for numbers over rows. For a relation, it says how the rows belong to their parent. */
function aggregatedCall({ entity, list, groups, ...rest }: Aggregated | AggregatedRelation): Code {
  const via = 'via' in rest ? { via: viaWords(rest.via) } : {};
  return call(groups ? 'groups' : 'aggregate', [
    entity,
    { ...via, ...listWords(list), ...(groups as unknown as Words) },
  ]);
}

function oneWords({ key, to, inverse, typeColumn }: One): Words {
  return { key: key === 'own' ? undefined : key, to, inverse, typeColumn };
}

/** How related rows are found: the name of a column, or `through(…)`. */
export function viaWords(via: Many['via']): LiteralValue {
  if (via.kind === 'table') {
    const { table, own, other, managed, schema } = via;
    const more = managed ? 'managed' : schema === undefined ? undefined : { schema };
    return call('through', [table, own, other, more]);
  }
  if (via.to !== undefined) return { ...via };
  return via.typeColumn === undefined ? via.column : call('viaType', [via.column, via.typeColumn]);
}

function listWords({
  filters,
  where,
  orderBy,
  search,
  paging,
  connection,
  filterable,
  distinct,
  condition,
  order,
}: ListOptions): Words {
  const { default: rows, max, added = [], ...page } = paging;
  const declared = Object.entries(page).filter(([, name]) => !added.includes(name));
  const byKey = order.length === 1 && first(order).column === 'id' && !first(order).descending;
  return {
    filters: unlessEmpty(Object.fromEntries(filters.map(({ arg, column }) => [arg, column]))),
    where: where as LiteralValue,
    orderBy: orderBy as LiteralValue,
    search,
    page: unlessEmpty(Object.fromEntries(declared)),
    paged: added.length > 0 || undefined,
    connection: connection as unknown as LiteralValue,
    filterable,
    distinct,
    condition: condition as unknown as LiteralValue,
    order: byKey
      ? undefined
      : order.map(({ column, descending }) => (descending ? `${column} desc` : column)),
    default: rows === max ? undefined : rows,
    max,
  };
}

/** One word for those that follow from the entity, as they do where `api.crud` wrote the field. */
function shortWords(entity: string, words: Words): Words {
  const crud = words['connection'] === undefined ? 'list' : 'connection';
  const implied = impliedList(entity, crud);
  const { others = [], same = [] } = Object.groupBy(Object.entries(words), ([word, value]) =>
    isSame(plain(value), implied[word as keyof ImpliedList]) ? 'same' : 'others',
  );
  return same.length === Object.keys(implied).length
    ? { crud, ...Object.fromEntries(others) }
    : words;
}

/** Without members that are undefined. */
const plain = (value: LiteralValue): unknown => JSON.parse(JSON.stringify(value ?? null));

function returnWords(returns: Returns): LiteralValue {
  if (returns.kind === 'entity') return undefined;
  if (returns.kind !== 'payload') return returns.kind;
  const { kind: _kind, ...words } = returns;
  return words as unknown as LiteralValue;
}

/** A call of the runtime with data; empty arguments at the end are left out. */
function call(name: Parameters<typeof runtime>[0], args: readonly LiteralValue[]): Code {
  const last = args.findLastIndex((arg) => arg !== undefined);
  const parts = args
    .slice(0, last + 1)
    .map((arg) =>
      typeof arg === 'string' ? { text: str(arg), imports: [] } : literal(arg, { indent: 12 }),
    );
  return code`${runtime(name)}(${join(parts, ', ')})`;
}

function unlessEmpty(value: { [key: string]: LiteralValue }): LiteralValue {
  return Object.values(value).some((each) => each !== undefined) ? value : undefined;
}
