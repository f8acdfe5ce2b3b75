import { buildSchema, type GraphQLSchema, parse, validate } from 'graphql';
import type { Entity, ListOptions, Project } from '@twofold/schema';
import { randomValue } from './random-data.ts';
import type { Random } from './random-schema.ts';

export interface RandomQuery {
  readonly text: string;
  readonly variables: Record<string, unknown>;
}

interface Making {
  readonly random: Random;
  readonly project: Project;
  readonly variables: Map<string, { type: string; value: unknown }>;
  readonly fragments: string[];
  /** Whether functions of the user may be asked for. */
  readonly functions: boolean;
  /** Whether pages start behind made-up rows, and filters are such that some row may well meet them. */
  readonly guessing: boolean;
}

/** An operation over the whole language: aliases, fragments, variables, conditions, filters, pages, types of several kinds. */
export function randomQuery(
  random: Random,
  project: Project,
  functions: boolean,
  guessing = false,
): RandomQuery {
  const schema = SCHEMAS.get(project) ?? buildSchema(project.sdl);
  SCHEMAS.set(project, schema);
  // Where objects are of several types, members of the same name may be of types that do not go together.
  for (;;) {
    const query = anyQuery(random, project, functions, guessing);
    if (validate(schema, parse(query.text)).length === 0) return query;
  }
}

const SCHEMAS = new WeakMap<Project, GraphQLSchema>();

function anyQuery(
  random: Random,
  project: Project,
  functions: boolean,
  guessing: boolean,
): RandomQuery {
  const making: Making = {
    random,
    project,
    functions,
    guessing,
    variables: new Map(),
    fragments: [],
  };
  const operations = project.operations.filter(({ root }) => root === 'query');
  const roots = Array.from({ length: 1 + random.below(2) }, (_, index) => {
    const operation = random.pick(operations);
    const { action } = operation;
    if (action.kind === 'get')
      return `r${index}: ${operation.name}(id: "${1 + random.below(10)}") ${objectSelection(making, action.entity, 3)}`;
    if (action.kind === 'listAbstract')
      return `r${index}: ${operation.name}${random.chance(0.5) ? `(limit: ${random.below(9)})` : ''} ${abstractSelection(making, action.type, 2)}`;
    return action.kind === 'list'
      ? `r${index}: ${operation.name}${listArguments(making, action.entity, action.list)} ${listSelection(making, action.entity, action.list, 3)}`
      : '__typename';
  });
  const body = [`{ ${roots.join(' ')} }`, ...usedFragments(roots.join(' '), making.fragments)].join(
    '\n',
  );
  const used = [...making.variables].filter(([name]) => new RegExp(`\\$${name}\\b`).test(body));
  const declared = used.map(([name, { type }]) => `$${name}: ${type}`);
  const text = `query ${declared.length > 0 ? `(${declared.join(', ')})` : ''} ${body}`;
  return { text, variables: Object.fromEntries(used.map(([name, { value }]) => [name, value])) };
}

/** What may be selected of an object, with the variables and fragments that go with it. */
export function randomSelection(
  random: Random,
  project: Project,
  entity: string,
): {
  readonly declared: readonly string[];
  readonly selection: string;
  readonly fragments: string;
  readonly variables: Record<string, unknown>;
} {
  const schema = SCHEMAS.get(project) ?? buildSchema(project.sdl);
  SCHEMAS.set(project, schema);
  for (;;) {
    const making: Making = {
      random,
      project,
      functions: false,
      guessing: false,
      variables: new Map(),
      fragments: [],
    };
    const selection = objectSelection(making, entity, 2);
    const fragments = usedFragments(selection, making.fragments).join('\n');
    const used = [...making.variables].filter(([name]) =>
      new RegExp(`\\$${name}\\b`).test(selection + fragments),
    );
    const declared = used.map(([name, { type }]) => `$${name}: ${type}`);
    const probe = `query ${declared.length > 0 ? `(${declared.join(', ')})` : ''} { ${entity.toLowerCase()}(id: 1) ${selection} } ${fragments}`;
    if (validate(schema, parse(probe)).length === 0)
      return {
        declared,
        selection,
        fragments,
        variables: Object.fromEntries(used.map(([name, { value }]) => [name, value])),
      };
  }
}

function usedFragments(text: string, fragments: readonly string[]): string[] {
  const rest = fragments.filter((fragment) => text.includes(`...${fragment.split(' ')[1]} `));
  const more = fragments.filter((fragment) =>
    rest.some((other) => other !== fragment && other.includes(`...${fragment.split(' ')[1]} `)),
  );
  const all = [...new Set([...rest, ...more])];
  return all.length === rest.length ? rest : usedFragments(`${text} ${all.join(' ')}`, fragments);
}

const entityOf = (project: Project, name: string) =>
  project.entities.find((entity) => entity.name === name) as Entity;

/** Of an interface or a union: what all have, what some have, in conditions inside conditions, and some of it twice. */
function abstractSelection(making: Making, type: string, depth: number): string {
  const { random, project } = making;
  const abstract = project.abstracts.find(({ name }) => name === type);
  const common =
    abstract?.kind === 'interface'
      ? [
          'id',
          ...(random.chance(0.5) ? ['label'] : []),
          ...(depth > 0 && random.chance(0.4)
            ? [`near ${abstractSelection(making, type, depth - 1)}`]
            : []),
        ]
      : [];
  const parts = ['__typename', ...common];
  for (const member of abstract?.members ?? []) {
    if (!random.chance(0.6)) continue;
    const selection = objectSelection(
      making,
      member,
      Math.max(0, depth - 1),
      random.chance(0.8) ? `${member.toLowerCase()}_` : '',
    );
    parts.push(
      random.chance(0.25)
        ? `... on Labelled { ... on ${member} ${selection} label }`
        : `... on ${member} ${selection}`,
    );
  }
  return `{ ${wrap(making, type, parts)} }`;
}

function objectSelection(making: Making, entityName: string, depth: number, prefix = ''): string {
  const { random } = making;
  const entity = entityOf(making.project, entityName);
  const parts = ['id'];
  for (const field of entity.fields) {
    if (!random.chance(0.4)) continue;
    const alias = random.chance(0.2)
      ? `${prefix}x${random.below(99)}_${field.name}: `
      : prefix && `${prefix}${field.name}: `;
    const condition = random.chance(0.08)
      ? ` @${random.pick(['skip', 'include'])}(if: ${random.chance(0.5) ? variable(making, 'Boolean!', random.chance(0.5)) : String(random.chance(0.5))})`
      : '';
    const { source } = field;
    if (source.kind === 'column') parts.push(`${alias}${field.name}${condition}`);
    if (source.kind === 'custom' && making.functions) parts.push(`${alias}${field.name}`);
    if (depth === 0 || (source.kind !== 'one' && source.kind !== 'many')) continue;
    if (source.kind === 'one')
      parts.push(
        `${alias}${field.name}${condition} ${source.typeColumn === undefined ? objectSelection(making, source.entity, depth - 1) : abstractSelection(making, source.entity, depth - 1)}`,
      );
    else
      parts.push(
        `${alias}${field.name}${listArguments(making, source.entity, source.list)}${condition} ${listSelection(making, source.entity, source.list, depth - 1)}`,
      );
  }
  if (random.chance(0.2)) parts.push('__typename');
  return `{ ${wrap(making, entityName, parts)} }`;
}

/** Some of the fields move into fragments, and some are asked for twice. */
function wrap(making: Making, type: string, parts: string[]): string {
  const { random, fragments } = making;
  if (!random.chance(0.25)) return parts.join(' ');
  const at = random.below(parts.length);
  const inner = parts.slice(at).join(' ');
  const before = parts.slice(0, at).join(' ');
  if (random.chance(0.5)) return `${before} ... on ${type} { ${inner} }`;
  const name = `F${fragments.length}`;
  fragments.push(`fragment ${name} on ${type} { ${inner} }`);
  return `${before} ...${name} `;
}

function variable({ variables }: Making, type: string, value: unknown): string {
  const name = `v${variables.size}`;
  variables.set(name, { type, value });
  return `$${name}`;
}

function listSelection(making: Making, entity: string, list: ListOptions, depth: number): string {
  if (!list.connection) return objectSelection(making, entity, depth);
  const { random } = making;
  const parts = [
    `edges { ${random.chance(0.5) ? 'cursor ' : ''}node ${objectSelection(making, entity, depth)} }`,
  ];
  if (random.chance(0.3)) parts.push(`nodes ${objectSelection(making, entity, 0)}`);
  if (random.chance(0.5))
    parts.push('pageInfo { hasNextPage hasPreviousPage startCursor endCursor }');
  if (random.chance(0.4)) parts.push('totalCount');
  return `{ ${(random.chance(0.15) ? ['totalCount'] : parts).join(' ')} }`;
}

function listArguments(making: Making, entityName: string, list: ListOptions): string {
  const { random } = making;
  const { paging } = list;
  const given: string[] = [];
  const size = () =>
    random.chance(0.5) ? variable(making, 'Int', random.below(5)) : String(random.below(5));
  if (paging.first && random.chance(0.6))
    given.push(random.chance(0.5) ? `${paging.first}: ${size()}` : `${paging.last}: ${size()}`);
  if (paging.limit && random.chance(0.4)) given.push(`${paging.limit}: ${size()}`);
  if (paging.offset && random.chance(0.3)) given.push(`${paging.offset}: ${random.below(3)}`);
  if (list.where && random.chance(0.5)) {
    const value = filter(making, entityName, 2);
    given.push(
      random.chance(0.6)
        ? `${list.where.arg}: ${variable(making, list.where.shape, value)}`
        : `${list.where.arg}: ${literal(value)}`,
    );
  }
  const ordered =
    list.orderBy && random.chance(0.5) ? order(making, list.orderBy.shape) : undefined;
  if (list.orderBy && ordered)
    given.push(`${list.orderBy.arg}: ${variable(making, list.orderBy.shape, ordered)}`);
  if (making.guessing && paging.after && random.chance(0.4))
    given.push(
      `${random.chance(0.7) ? paging.after : paging.before}: ${variable(making, 'String', cursor(making, entityName, ordered ?? {}))}`,
    );
  if (making.guessing)
    for (const { arg, column } of list.filters)
      if (random.chance(0.15))
        given.push(
          `${arg}: ${literal(randomValue(random, entityOf(making.project, entityName).columns.find(({ name }) => name === column)?.scalar ?? 'ID'))}`,
        );
  return given.length > 0 ? `(${given.join(', ')})` : '';
}

/** Of a row that may be there or not. */
function cursor(
  { random, project }: Making,
  entityName: string,
  ordered: Readonly<Record<string, string>>,
): string {
  const shape = project.orders.find(({ entity }) => entity === entityName);
  const columns = Object.keys(ordered)
    .filter((name) => name !== 'id')
    .map((name) =>
      shape?.form.kind === 'fields'
        ? shape.form.fields.flatMap((field) =>
            field.name === name && 'column' in field ? [field.column] : [],
          )[0]
        : undefined,
    );
  const values = columns.map((column) =>
    random.chance(0.1)
      ? null
      : randomValue(
          random,
          entityOf(project, entityName).columns.find(({ name }) => name === column)?.scalar ?? 'ID',
        ),
  );
  return Buffer.from(JSON.stringify([...values, 1 + random.below(8)])).toString('hex');
}

function order(making: Making, shape: string): Record<string, string> {
  const { random, project } = making;
  const form = project.orders.find(({ id }) => id === shape)?.form;
  const fields = itemsOf(making, form?.kind === 'fields' ? form.fields : [], 0.4);
  return Object.fromEntries(fields.map(({ name }) => [name, random.pick(['ASC', 'DESC'])]));
}

function filter(making: Making, entityName: string, depth: number): Record<string, unknown> {
  const { random, project } = making;
  const shape = project.filters.find(({ entity }) => entity === entityName);
  const value: Record<string, unknown> = {};
  for (const item of itemsOf(making, shape?.filters ?? [])) {
    if (item.kind === 'operators') {
      const column = entityOf(project, entityName).columns.find(({ name }) => name === item.column);
      const operator = random.pick(item.operators);
      const one = () => valueFor(making, column?.scalar ?? 'String');
      const mayBeNull = operator === 'eq' || operator === 'ne';
      if (random.chance(0.1)) value[item.name] = null;
      else
        value[item.name] = {
          [operator]:
            operator === 'isNull'
              ? random.chance(0.5)
              : operator === 'in'
                ? Array.from({ length: random.below(3) }, one)
                : mayBeNull && random.chance(0.2)
                  ? null
                  : one(),
        };
    } else if (depth > 0 && (item.kind === 'and' || item.kind === 'or'))
      value[item.name] = Array.from({ length: 1 + random.below(2) }, () =>
        filter(making, entityName, depth - 1),
      );
    else if (depth > 0 && item.kind === 'not') value['not'] = filter(making, entityName, depth - 1);
    else if (depth > 0 && item.kind === 'one')
      value[item.name] = filter(making, related(project, entityName, item.field), depth - 1);
    else if (depth > 0 && item.kind === 'many')
      value[item.name] = {
        [random.pick(item.quantifiers)]: filter(
          making,
          related(project, entityName, item.field),
          depth - 1,
        ),
      };
  }
  return value;
}

/** No row meets many conditions at once, and behind the first of an order the others make no difference. */
const itemsOf = <T>(
  { random, guessing }: Making,
  items: readonly T[],
  chance = 0.3,
): readonly T[] =>
  guessing && items.length > 0
    ? Array.from({ length: 1 + random.below(2) }, () => random.pick(items))
    : items.filter(() => random.chance(chance));

/** Parts of the texts that `test/leak/worlds.ts` makes. */
const GUESSES = ['ant', 'bee', 'cat', 'dog', 'eel', '1', '2', '3', 's', 'e', 'o', 'other', 'User'];

const valueFor = ({ random, guessing }: Making, scalar: string): unknown => {
  if (!guessing) return randomValue(random, scalar);
  if (scalar === 'Int') return random.below(6);
  return scalar === 'String' ? random.pick(GUESSES) : randomValue(random, scalar);
};

function related(project: Project, entity: string, field: string): string {
  const source = entityOf(project, entity).fields.find(({ name }) => name === field)?.source;
  return source?.kind === 'one' || source?.kind === 'many' ? source.entity : entity;
}

const ENUM = /^(CALM|WILD|ASC|DESC)$/;

/** A value as GraphQL writes it. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, item]) => `${key}: ${literal(item)}`)
      .join(', ')}}`;
  return typeof value === 'string' && ENUM.test(value) ? value : JSON.stringify(value);
}
