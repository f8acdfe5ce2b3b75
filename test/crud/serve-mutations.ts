import {
  buildSchema,
  getNamedType,
  type GraphQLArgument,
  type GraphQLField,
  isCompositeType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import type { Operation, Project } from '@twofold/schema';
import { kebabCase } from '../../schema/names.ts';
import { createServer } from '../../runtime/core/server.ts';
import { Maker } from '../corpus/ask.ts';
import type { Ask } from '../corpus/bring.ts';
import { readMended } from './random-model.ts';

type Send = (method: string, path: string, body?: object) => Promise<{ status: number; body: any }>;

/**
 * Serves a model over an empty database in memory, and asks each mutation of each type.
 *
 * @returns what went wrong, in words
 */
export async function serveMutations(sdl: string): Promise<string[]> {
  const { project } = readMended(sdl);
  const server = createServer({ project: project! });
  const { url } = await server.start('127.0.0.1:0', {
    env: { DATABASE_URL: ':memory:', NODE_ENV: 'test' },
    logTo: { write: () => {} },
  });
  const send: Send = async (method, path, body) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
  };
  try {
    return await askAll(project!, send);
  } finally {
    await server.close();
  }
}

/** A row may not be removed while another needs it. */
const isInUse = ({ extensions }: any) => extensions?.reason === 'RELATION';

/** Asks each mutation of each type, by GraphQL and where there is one by REST. */
async function askAll(project: Project, send: Send): Promise<string[]> {
  const problems: string[] = [];
  const ask: Ask = async (query, variables) =>
    (await send('POST', '/graphql', { query, variables })).body;
  const schema = buildSchema(project.sdl, { assumeValidSDL: true });
  const maker = new Maker(project, schema, ask);
  const fields = schema.getMutationType()!.getFields();
  const inOrder = project.operations
    .filter(({ root }) => root === 'mutation')
    .toSorted((a, b) => ORDER.indexOf(a.action.kind) - ORDER.indexOf(b.action.kind));
  for (const operation of inOrder) {
    const type = entityOf(operation);
    const id = await maker.row(type, []);
    if (id === null) continue;
    const field = fields[operation.name]!;
    const variables = await variablesOf(field, { type, id, maker });
    const { errors } = await ask(textOf(field), variables);
    if (errors && !isInUse(errors[0])) problems.push(`${field.name}: ${JSON.stringify(errors[0])}`);
    problems.push(...(await askRest(operation, { project, send, variables, id })));
    if (operation.action.kind.startsWith('remove')) maker.made.delete(type);
  }
  return [...problems, ...maker.problems];
}

const ORDER = ['create', 'createMany', 'update', 'upsert', 'updateMany', 'remove', 'removeMany'];

const entityOf = ({ action }: Operation) => (action as { readonly entity: string }).entity;

function textOf({ name, args, type }: GraphQLField<unknown, unknown>): string {
  const declared = args.map((each) => `$${each.name}: ${String(each.type)}`).join(', ');
  const given = args.map((each) => `${each.name}: $${each.name}`).join(', ');
  const selection = isCompositeType(getNamedType(type)) ? ' { __typename }' : '';
  return `mutation (${declared}) { ${name}(${given})${selection} }`;
}

interface Row {
  readonly type: string;
  readonly id: string;
  readonly maker: Maker;
}

async function variablesOf({ args }: GraphQLField<unknown, unknown>, row: Row) {
  const found: Record<string, unknown> = {};
  for (const each of args) found[each.name] = await variableOf(each, row);
  return found;
}

async function variableOf({ name, type }: GraphQLArgument, { id, maker, ...row }: Row) {
  if (name === 'id') return id;
  const named = getNamedType(type);
  if (!isInputObjectType(named)) return undefined;
  if (name === 'where' && !named.name.endsWith('Filter')) return { id };
  if (name === 'where') return { id: { in: [id] } };
  const values = await maker.values(named, { type: row.type, above: [row.type] });
  return isListType(isNonNullType(type) ? type.ofType : type) ? [values] : values;
}

const VERBS = { create: 'POST', update: 'PATCH', remove: 'DELETE' } as const;

interface Asked {
  readonly project: Project;
  readonly send: Send;
  readonly variables: Readonly<Record<string, any>>;
  readonly id: string;
}

async function askRest(operation: Operation, { project, send, variables, id }: Asked) {
  const { kind } = operation.action;
  if (kind !== 'create' && kind !== 'update' && kind !== 'remove') return [];
  const { plural } = project.entities.find(({ name }) => name === entityOf(operation))!;
  const path = `/api/${kebabCase(plural)}${kind === 'create' ? '' : `/${id}`}`;
  const { status, body } = await send(VERBS[kind], path, variables['input']);
  // GraphQL has removed the row already, or another row needs it.
  const expected = { create: [201], update: [200], remove: [200, 204, 404, 409, 422] }[kind];
  return expected.includes(status)
    ? []
    : [`${VERBS[kind]} ${path}: ${status} ${JSON.stringify(body)}`];
}
