import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import type { Project } from '@twofold/schema';
import type { Imported } from '../../generator/import/imported.ts';
import { planImport } from '../../generator/import/plan-import.ts';
import { planRun, run } from '../../generator/pipeline.ts';
import { disk } from '../../generator/write/disk.ts';
import { auth } from '../../runtime/auth/index.ts';
import { openDatabase } from '../../runtime/database/open-database.ts';
import { createServer } from '../../runtime/core/server.ts';
import { askDeep, createRows, listAll, listsOf } from './ask.ts';

/** What was read from a source, and the database that it is about. */
export interface Found {
  readonly imported: Imported;
  readonly url: string;
}

/** The type that signs in, as the person who imports it would name it in `auth`. */
export interface Accounts {
  readonly user: string;
  /** What a registration needs beside e-mail and password, because the table wants it. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** What a person does with a source, and what the findings tell them to decide. */
export interface Bringing {
  readonly users?: Accounts;
  /** What the findings say that stand in the way of accounts. */
  readonly decide?: readonly string[];
  /** Types of which no row can be made without a decision, and why, as the report says it. */
  readonly without?: Readonly<Record<string, string>>;
  /** Plain fields of a type that hold the key of a row of another one, as their owner knows. */
  readonly keys?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/**
 * Takes a source through import, generate, check, the start, queries, creates, and where there are
 * users a registration, a sign-in and the rule that strangers get nothing.
 *
 * @returns what went wrong, in words
 */
export async function bring(root: string, found: Found, how: Bringing): Promise<string[]> {
  const { users, decide = [] } = how;
  const first = await generate(root, found, users);
  if (decide.length > 0) {
    const said = new Set(first.errors);
    if (said.size !== decide.length || !decide.every((each) => said.has(each)))
      return [`not what is to be decided: ${first.errors.join()}`];
    return bring(root, found, { ...(how.without && { without: how.without }) });
  }
  if (!first.project) return first.errors;
  const { changes } = await planRun(root, {}, disk);
  const differs = changes.filter(({ kind }) => kind !== 'same');
  const asked = await serve(first.project, { root, url: found.url, how });
  return [
    ...differs.map(({ path, kind }) => `check: ${kind} ${path}`),
    ...unexplained(found.imported, how.without ?? {}),
    ...asked,
  ];
}

/** Types without a row whose report does not say why. */
function unexplained({ types, items }: Imported, without: Readonly<Record<string, string>>) {
  return Object.entries(without).flatMap(([name, reason]) => {
    const table = types.find((type) => type.name === name)?.table.name;
    const isSaid = items.some(
      ({ object, status, why }) =>
        object.split(/[.(]/).includes(table!) && status !== 'kept' && why === reason,
    );
    return isSaid ? [] : [`the report does not say of ${name}: ${reason}`];
  });
}

async function generate(root: string, { imported }: Found, users: Accounts | undefined) {
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  const base = 'name: corpus\ndatabase: { managed: false }\napi: { rest: true, crud: true }\n';
  write('manifest.yaml', `${base}${users && !imported.access ? authOf(users) : ''}`);
  const options = { source: 'corpus', crud: true, managed: false };
  for (const { file, text } of (await planImport(root, imported, options)).files) write(file, text);
  const { project, findings } = await run(root, {}, disk);
  const errors = findings.filter(({ severity }) => severity === 'error');
  return {
    project,
    errors: errors.map(({ code, summary, why, fix }) => `${code} ${summary}: ${why}; ${fix}`),
  };
}

/** Fields that a registration takes without being told. */
const OF_REGISTER = new Set(['username', 'first_name', 'last_name', 'phone']);

function authOf({ user, fields = {} }: Accounts): string {
  const names = Object.keys(fields).filter((name) => !OF_REGISTER.has(name));
  const register = names.length === 0 ? '' : `, register: { fields: [${names.join(', ')}] }`;
  return `auth: { user: ${user}${register} }\n`;
}

interface Serving {
  readonly root: string;
  readonly url: string;
  readonly how: Bringing;
}

async function serve(project: Project, { root, url, how }: Serving): Promise<string[]> {
  const [sdl = '', manifest = ''] = ['schema.graphql', 'manifest.yaml'].map((file) =>
    readFileSync(join(root, file), 'utf8'),
  );
  const env = {
    DATABASE_URL: url,
    NODE_ENV: 'test',
    JWT_SECRET: 'x'.repeat(64),
    API_KEY: 'k'.repeat(64),
  };
  const capabilities = project.auth ? [auth()] : [];
  if (project.auth) await runSql(url, await openDatabase({ project, capabilities }, { env }).sql());
  const server = createServer().schema(sdl, manifest);
  if (project.auth) server.with(auth());
  try {
    const { url: base } = await server.start('127.0.0.1:0', { env, logTo: { write: () => {} } });
    const problems: string[] = [];
    if (how.users) problems.push(...(await signUp(base, how.users)));
    const headers = { ...(project.auth && { 'x-api-key': env.API_KEY }) };
    const ask = createAsk(base, headers);
    if (project.auth) problems.push(...(await refusesStrangers(project, createAsk(base, {}))));
    problems.push(...(await listAll(project, ask)), ...(await askDeep(project, ask)));
    problems.push(...(await createRows(project, ask, how)));
    return [...problems, ...(await askDeep(project, ask))];
  } catch (error) {
    return [`start: ${(error as Error).message}`];
  } finally {
    await server.close();
  }
}

/** Runs a text of several statements, as psql does. */
export async function runSql(url: string, text: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

export type Ask = (
  query: string,
  variables?: object,
) => Promise<{ readonly data?: any; readonly errors?: readonly any[] }>;

const post = (url: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

const createAsk =
  (base: string, headers: Readonly<Record<string, string>>): Ask =>
  async (query, variables) =>
    (await (await post(`${base}/graphql`, { query, variables }, headers)).json()) as any;

async function signUp(base: string, { fields = {} }: Accounts): Promise<string[]> {
  const who = { email: 'ada@example.test', password: 'a long sentence of words' };
  const made = await post(`${base}/api/auth/register`, { ...who, ...fields });
  const login = await post(`${base}/api/auth/login`, who);
  return [
    ...(made.status === 201 ? [] : [`register: ${made.status} ${await made.text()}`]),
    ...(login.status === 200 ? [] : [`login: ${login.status} ${await login.text()}`]),
  ];
}

/** The rule that each project with accounts begins with: no stranger sees a user. */
async function refusesStrangers(project: Project, ask: Ask): Promise<string[]> {
  const user = project.auth?.user.entity;
  const list = listsOf(project).find(
    ({ action }) => (action as { entity: string }).entity === user,
  );
  const { data } = await ask(`{ ${list?.name} { id } }`);
  return data?.[list?.name ?? ''] ? ['a stranger reads users'] : [];
}
