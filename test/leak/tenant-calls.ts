import type { Random } from '../graphql/random-schema.ts';
import { lower, type Shape } from './random-tenants.ts';

/** One call of a path that rows can be reached by, and never of the last row: new keys follow it. */
export type TenantCall =
  | { readonly kind: 'graphql'; readonly text: string; readonly variables: object }
  | {
      readonly kind: 'rest';
      readonly method: string;
      readonly path: string;
      readonly body?: object;
    }
  | {
      readonly kind: 'data';
      readonly entity: string;
      readonly method: string;
      readonly given: object;
    };

const WORDS = ['ant', 'bee', 'cat', 'dog'];

/** A schema, and the keys of the rows of each type that the caller may see at first. */
export interface Calling {
  readonly random: Random;
  readonly shapes: readonly Shape[];
  readonly own: ReadonlyMap<string, readonly number[]>;
}

/** The key of a row: mostly of the caller's organization, else of the other, or of none. */
const idOf = ({ random, own }: Calling, type: string) =>
  String(
    random.chance(0.7)
      ? random.pick(own.get(type)!.slice(0, -1))
      : random.chance(0.2)
        ? 99
        : 1 + random.below(8),
  );
const userOf = ({ random, own }: Calling) =>
  String(random.chance(0.7) ? random.pick(own.get('User')!) : 1 + random.below(7));
const someOf = (random: Random, members: object, probability = 0.4) =>
  Object.fromEntries(Object.entries(members).filter(() => random.chance(probability)));

/** Keys of rows and organizations, the caller's or not. */
function keysOf(calling: Calling, { next, direct }: Shape) {
  const { random } = calling;
  return {
    ...someOf(random, { ownerId: userOf(calling) }, 0.3),
    ...(direct && someOf(random, { companyId: random.pick(['1', '1', '1', '2', '99']) }, 0.3)),
    ...someOf(random, { [`${lower(next)}Id`]: idOf(calling, next) }, direct ? 0.3 : 0.8),
  };
}

const valuesOf = (calling: Calling, shape: Shape) => ({
  ...someOf(calling.random, {
    number: calling.random.below(6),
    secret: `made ${calling.random.below(9)}`,
  }),
  ...keysOf(calling, shape),
});

const codeOf = (random: Random) => `c${random.below(30)}`;

const leafOf = (calling: Calling, shape: Shape) => ({
  label: calling.random.pick(WORDS),
  code: codeOf(calling.random),
  ...valuesOf(calling, shape),
});

const keyOf = (calling: Calling, { next, direct }: Shape) => ({
  [direct ? 'companyId' : `${lower(next)}Id`]: direct
    ? calling.random.pick(['1', '1', '2'])
    : idOf(calling, next),
  code: codeOf(calling.random),
});

const orNew = (calling: Calling, shape: Shape) => ({
  where: keyOf(calling, shape),
  create: leafOf(calling, shape),
});

const pickOne = (random: Random, members: object) => {
  const [name, value] = random.pick(Object.entries(members));
  return { [name]: value };
};

/** Related rows: connected, made, or one of both, which `ctx.data` does not have. */
function linksOf(calling: Calling, { next, before }: Shape, orNews: boolean): object {
  const { random, shapes } = calling;
  const [one, many] = [next, before].map((name) => shapes.find(({ type }) => type === name)!) as [
    Shape,
    Shape,
  ];
  const ref = (type: string) => ({ id: idOf(calling, type) });
  return someOf(
    random,
    {
      [lower(next)]: pickOne(random, {
        connect: ref(next),
        create: leafOf(calling, one),
        ...(orNews && { connectOrCreate: orNew(calling, one) }),
      }),
      [`${lower(before)}s`]: pickOne(random, {
        connect: [ref(before), ref(before)],
        create: [leafOf(calling, many)],
        ...(orNews && { connectOrCreate: [orNew(calling, many)] }),
      }),
    },
    0.25,
  );
}

/** A row with related ones. A link takes the place of the key beside it. */
function newOf(calling: Calling, shape: Shape, orNews = true) {
  const links = linksOf(calling, shape, orNews);
  const values: Record<string, unknown> = leafOf(calling, shape);
  if (lower(shape.next) in links) delete values[`${lower(shape.next)}Id`];
  return { ...values, ...links };
}

function patchOf(calling: Calling, shape: Shape, orNews = true) {
  const { code: _code, ...patch } = newOf(calling, shape, orNews) as Record<string, unknown>;
  return patch;
}

/** A filter that never names the last row, whose label is another. */
const whereOf = (random: Random, { next, before }: Shape) => ({
  label: { in: [random.pick(WORDS), random.pick(WORDS)] },
  ...someOf(random, {
    number: { gte: random.below(4) },
    [lower(next)]: { label: { ne: 'ant' } },
    [`${lower(before)}s`]: pickOne(random, {
      some: { number: { lt: 4 } },
      none: { label: { eq: 'bee' } },
    }),
  }),
});

type Writes = readonly (() => TenantCall)[];

export function randomWrite(calling: Calling): TenantCall {
  const { random, shapes } = calling;
  const shape = random.pick(shapes);
  const kinds: readonly (() => Writes)[] = [
    () => mutations(calling, shape),
    () => mutations(calling, shape),
    () => dataWrites(calling, shape),
    () => restWrites(calling, shape),
    () => (random.chance(0.5) ? removals(calling, shape) : mutations(calling, shape)),
  ];
  return random.pick(random.pick(kinds)())();
}

const graphql = (field: string, declared: string, variables: object): TenantCall => ({
  kind: 'graphql',
  text: `mutation (${declared}) { w: ${field} }`,
  variables,
});

const shownOf = ({ next, direct }: Shape) =>
  `{ id label number how has owner { id } ${direct ? 'company { id }' : ''} ${lower(next)} { id label } }`;

function mutations(calling: Calling, shape: Shape): Writes {
  const { random } = calling;
  const { type } = shape;
  const shown = shownOf(shape);
  const patch = { label: 'cat', ...valuesOf(calling, shape) };
  return [
    () =>
      graphql(`create${type}(input: $i) ${shown}`, `$i: New${type}!`, { i: newOf(calling, shape) }),
    () =>
      graphql(`update${type}(id: $id, input: $i) ${shown}`, `$id: ID! $i: Patch${type}!`, {
        id: idOf(calling, type),
        i: patchOf(calling, shape),
      }),
    () =>
      graphql(
        `upsert${type}(where: $w, create: $c, update: $u) ${shown}`,
        `$w: Key${type}! $c: Leaf${type}! $u: Patch${type}!`,
        {
          w: keyOf(calling, shape),
          c: leafOf(calling, shape),
          u: patchOf(calling, shape),
        },
      ),
    () =>
      graphql(
        `create${type}s(input: $i, skipDuplicates: $s) ${shown}`,
        `$i: [Leaf${type}!]! $s: Boolean`,
        { i: [leafOf(calling, shape), leafOf(calling, shape)], s: random.chance(0.5) },
      ),
    () =>
      graphql(`update${type}s(where: $w, input: $i)`, `$w: ${type}Filter! $i: Patch${type}!`, {
        w: whereOf(random, shape),
        i: patch,
      }),
  ];
}

function removals(calling: Calling, shape: Shape): Writes {
  const { type } = shape;
  const id = idOf(calling, type);
  const where = whereOf(calling.random, shape);
  return [
    () => graphql(`delete${type}(id: $id)`, '$id: ID!', { id }),
    () => graphql(`delete${type}s(where: $w)`, `$w: ${type}Filter!`, { w: where }),
    () =>
      graphql(`remove${type}s(ids: $ids) { id }`, '$ids: [ID!]!', {
        ids: [id, idOf(calling, type)],
      }),
    () => ({ kind: 'rest', method: 'DELETE', path: `/api/${lower(type)}s/${id}` }),
    () => data(shape, 'delete', { where: { id } }),
    () => data(shape, 'deleteMany', { where }),
  ];
}

function restWrites(calling: Calling, shape: Shape): Writes {
  const path = `/api/${lower(shape.type)}s`;
  const patch = patchOf(calling, shape);
  return [
    () => ({ kind: 'rest', method: 'POST', path, body: newOf(calling, shape) }),
    () => ({
      kind: 'rest',
      method: 'PATCH',
      path: `${path}/${idOf(calling, shape.type)}`,
      body: patch,
    }),
  ];
}

const data = ({ type }: Shape, method: string, given: object): TenantCall => ({
  kind: 'data',
  entity: lower(type),
  method,
  given,
});

function dataWrites(calling: Calling, shape: Shape): Writes {
  const where = whereOf(calling.random, shape);
  const leaves = [leafOf(calling, shape), leafOf(calling, shape)];
  const id = idOf(calling, shape.type);
  return [
    () => data(shape, 'create', { data: newOf(calling, shape, false) }),
    () => data(shape, 'update', { where: { id }, data: patchOf(calling, shape, false) }),
    () =>
      data(shape, 'upsert', {
        where: keyOf(calling, shape),
        create: leaves[0],
        update: { label: 'dog' },
      }),
    () => data(shape, 'updateMany', { where, data: { number: 3 } }),
    () => data(shape, 'createMany', { data: leaves, skipDuplicates: calling.random.chance(0.5) }),
  ];
}

/** Reads besides those that queries make: counts, REST and `ctx.data`. */
export function randomRead(calling: Calling): TenantCall {
  const { random } = calling;
  const shape = random.pick(calling.shapes);
  const { type, next, before } = shape;
  const path = `/api/${lower(type)}s`;
  const where = random.chance(0.7) ? { where: whereOf(random, shape) } : {};
  const id = idOf(calling, type);
  const included = random.pick([lower(next), `${lower(before)}s`, 'owner']);
  const query = (text: string): TenantCall => ({ kind: 'graphql', text, variables: {} });
  const get = (from: string): TenantCall => ({ kind: 'rest', method: 'GET', path: from });
  return random.pick<() => TenantCall>([
    () =>
      query(
        `{ ${lower(type)}s { id how has ${lower(next)} { how has } } all${type} { totalCount } companies { name members { id name } } users { id companies { id } } }`,
      ),
    () =>
      query(
        `{ company(id: 2) { name } user(id: ${userOf(calling)}) { name owned { id } } ${lower(type)}(id: ${id}) { how has } }`,
      ),
    () => get(`${path}?include=${included}&limit=${1 + random.below(9)}`),
    () => get(`${path}/${id}?include=${lower(next)}`),
    () => get(`/api/${random.pick(['companies', 'users', 'companies/2', `users/${id}`])}`),
    () => data(shape, 'findMany', { ...where, orderBy: { id: 'desc' } }),
    () => data(shape, 'findUnique', { where: random.chance(0.5) ? { id } : keyOf(calling, shape) }),
    () => data(shape, 'count', where),
  ])();
}
