import assert from 'node:assert/strict';
import {
  type Entity,
  type Project,
  restFilters,
  type RestModule,
  restModules,
  restSorts,
} from '@twofold/schema';
import { randomData, randomValue } from '../graphql/random-data.ts';
import { createRandom, type Random, randomSchema } from '../graphql/random-schema.ts';
import { startRest } from './harness.ts';

/** The same question to both. */
interface Asked {
  readonly path: string;
  /** GraphQL's selection of one object. */
  readonly selection: string;
  readonly where: Record<string, Record<string, unknown>>;
  readonly orderBy: Record<string, string> | undefined;
  readonly page: number;
  readonly limit: number;
}

export interface ComparedLists {
  readonly lists: number;
  readonly rows: number;
  readonly filtered: number;
  readonly embedded: number;
}

const open = (project: Project): Project => ({
  ...project,
  api: { ...project.api, limits: { ...project.api.limits, depth: 99, cost: 1e9 } },
});

/**
 * Asks random questions of a random schema over random rows, in REST and in GraphQL: rows, order, totals, pages, what is
 * embedded and what is got by id are the same, and REST takes one statement.
 *
 * @throws AssertionError that names the seed, the request and what is different.
 */
export async function compareLists(
  seed: number,
  database: 'sqlite' | 'postgres',
  questions: number,
): Promise<ComparedLists> {
  const random = createRandom(seed);
  const sdl = randomSchema(random);
  const functions = Object.fromEntries(
    [...sdl.matchAll(/^type (Ant|Bee|Cat|Dog) /gm)].map(([, name]) => [
      name as string,
      { echo: (row: any) => `${name} ${row.id} ${row.label}` },
    ]),
  );
  const server = await startRest(sdl, { database, change: open, resolvers: functions });
  try {
    await randomData(random, server.project, server.store);
    const modules = restModules(server.project);
    const counts = { lists: questions, rows: 0, filtered: 0, embedded: 0 };
    for (let index = 0; index < questions; index++) {
      const module = random.pick(modules);
      const asked = ask(random, server.project, module);
      const found = { seed, index, database, asked };
      const name = module.entity.name;
      const { data, errors } = await server.query(
        `query($where: ${name}Filter, $orderBy: ${name}Order, $limit: Int, $offset: Int) { rows: ${module.list?.name}(where: $where, orderBy: $orderBy, limit: $limit, offset: $offset) ${asked.selection} all: all${name}(where: $where) { totalCount } }`,
        {
          where: asked.where,
          ...(asked.orderBy && { orderBy: asked.orderBy }),
          limit: asked.limit,
          offset: (asked.page - 1) * asked.limit,
        },
      );
      assert.deepEqual({ found, errors }, { found, errors: undefined });
      server.statements();
      const { status, body } = await server.get(asked.path);
      const statements = server.statements().length;
      const rows = flat(data.rows) as { id: string }[];
      const total = data.all.totalCount as number;
      const expected = {
        data: rows,
        pagination: {
          total,
          page: asked.page,
          page_size: asked.limit,
          total_pages: Math.ceil(total / asked.limit),
        },
      };
      assert.deepEqual(
        { found, status, body, statements },
        { found, status: 200, body: expected, statements: 1 },
      );
      const [first] = rows;
      if (first && index % 4 === 0) {
        const one = await server.get(`${module.path}/${first.id}?${String(shapeOf(asked.path))}`);
        assert.deepEqual(
          { found, status: one.status, body: one.body },
          { found, status: 200, body: first },
        );
      }
      counts.rows += rows.length;
      if (Object.keys(asked.where).length > 0) counts.filtered += 1;
      if (asked.path.includes('include=')) counts.embedded += 1;
    }
    return counts;
  } finally {
    await server.close();
  }
}

/** `fields` and `include` alone, which a single object takes too. */
function shapeOf(path: string): URLSearchParams {
  const given = new URLSearchParams(path.split('?')[1]);
  return new URLSearchParams(
    [...given].filter(([name]) => name === 'fields' || name === 'include'),
  );
}

/** Connections inside an object are lists in REST. */
function flat(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(flat);
  if (typeof value !== 'object' || value === null) return value;
  if ('nodes' in value) return flat(value.nodes);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, flat(item)]));
}

function ask(random: Random, project: Project, module: RestModule): Asked {
  const parameters = new URLSearchParams();
  const where = filters(random, project, module, parameters);
  const orders = project.orders.find(({ entity }) => entity === module.entity.name)?.form;
  const sortable =
    orders?.kind === 'fields'
      ? orders.fields.map(({ name }) => name).filter((name) => restSorts(module).includes(name))
      : [];
  const sort = random.chance(0.6) && sortable.length > 0 ? random.pick(sortable) : undefined;
  const order = random.pick(['asc', 'desc']);
  if (sort !== undefined) parameters.set('sort', sort);
  if (sort !== undefined) parameters.set('order', order);
  const [page, limit] = [1 + random.below(3), 1 + random.below(5)];
  parameters.set('page', String(page));
  parameters.set('limit', String(limit));
  const [include, fields] = [[] as string[], [] as string[]];
  const selection = select(random, project, module.entity, [], { include, fields });
  if (include.length > 0) parameters.set('include', include.join(','));
  parameters.set('fields', fields.join(','));
  return {
    path: `${module.path}?${String(parameters)}`,
    selection,
    where,
    orderBy: sort === undefined ? undefined : { [sort]: order.toUpperCase() },
    page,
    limit,
  };
}

/** Comparisons that both have words for. */
function filters(
  random: Random,
  project: Project,
  module: RestModule,
  parameters: URLSearchParams,
): Asked['where'] {
  const where: Asked['where'] = {};
  const known = restFilters(module);
  const shape = project.filters.find(({ id }) => id === `${module.entity.name}Filter`);
  for (const item of shape?.filters ?? []) {
    if (item.kind !== 'operators' || !random.chance(0.25)) continue;
    const usable = item.operators.filter((operator) => known.has(`${item.name}_${operator}`));
    if (usable.length === 0) continue;
    const operator = random.pick(usable);
    const scalar =
      module.entity.columns.find(({ name }) => name === item.column)?.scalar ?? 'String';
    const operand =
      operator === 'isNull'
        ? random.chance(0.5)
        : operator === 'in' || operator === 'notIn'
          ? Array.from({ length: 1 + random.below(3) }, () => randomValue(random, scalar))
          : randomValue(random, scalar);
    where[item.name] = { [operator]: operand };
    const parameter =
      operator === 'eq' && random.chance(0.5) ? item.name : `${item.name}_${operator}`;
    for (const one of [operand].flat()) parameters.append(parameter, String(one));
  }
  return where;
}

/** Some values of an object and some of what it leads to, as a selection and as paths. */
function select(
  random: Random,
  project: Project,
  entity: Entity,
  path: readonly string[],
  paths: { readonly include: string[]; readonly fields: string[] },
): string {
  const at = (name: string) => [...path, name].join('.');
  const lines: string[] = ['id'];
  paths.fields.push(at('id'));
  for (const { name, source } of entity.fields) {
    if (name === 'id') continue;
    if (source.kind === 'one' || source.kind === 'many') {
      if (path.length >= 2 || !random.chance(0.35)) continue;
      const target = project.entities.find((other) => other.name === source.entity);
      // What may be of several types is asked for in a way of its own: `shapes.test.ts`.
      if (!target) continue;
      paths.include.push(at(name));
      const inside = select(random, project, target, [...path, name], paths);
      lines.push(
        `${name} ${source.kind === 'many' && source.list.connection ? `{ nodes ${inside} }` : inside}`,
      );
    } else if (random.chance(0.5)) {
      paths.fields.push(at(name));
      lines.push(name);
    }
  }
  return `{ ${lines.join(' ')} }`;
}
