import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { expect } from 'vitest';
import { type Ended, generator, linkPackages, makeProject, program } from '../generator/project.ts';
import type { TestProject } from '../generator/project.ts';
import { query } from '../server/program.ts';
import type { TestDatabase } from '../store/databases.ts';
import { MANIFEST, type Row, ROWS, SCHEMA } from './clinic.ts';

/** A project with its database, and what its rows have to be. */
export interface Month {
  readonly shop: TestProject;
  readonly database: TestDatabase;
  readonly postgres: boolean;
  /** By table: each row by the names of its columns, and nothing else. */
  readonly model: Record<string, Row[]>;
}

export async function startMonth(create: (root?: string) => Promise<TestDatabase>): Promise<Month> {
  const shop = makeProject({ 'schema.graphql': SCHEMA, 'manifest.yaml': MANIFEST });
  linkPackages(shop);
  const database = await create(shop.root);
  shop.write('.env', `DATABASE_URL=${database.url}\nHOST=127.0.0.1\nPORT=0\n`);
  const model = structuredClone(ROWS) as Record<string, Row[]>;
  return { shop, database, postgres: database.store.dialect === 'postgres', model };
}

/** What a command says, on both streams, and how it ends. */
export interface Said extends Ended {
  readonly text: string;
}

/** Types a command. `code` is the exit code that it has to end with. */
export async function type({ shop }: Month, words: string, code = 0): Promise<Said> {
  const ended = await generator(wordsOf(words), shop.root);
  const text = `${ended.stdout}${ended.stderr}`;
  expect([words, ended.code, text]).toEqual([words, code, text]);
  return { ...ended, text };
}

/** `npm run generate -- --allow-drop Pet.owner`, as it is printed, is the command without npm. */
const wordsOf = (line: string) =>
  line
    .replace(/^npm run (?:-s )?generator --|^npm run (?:-s )?(\w+)(?: --)?/, '$1')
    .trim()
    .split(/\s+/);

/** Edits the schema: every text is there once, and becomes the other. */
export function edit({ shop }: Month, ...pairs: readonly (readonly [string, string])[]): void {
  let schema = shop.read('schema.graphql');
  for (const [from, to] of pairs) {
    expect([from, schema.split(from).length - 1]).toEqual([from, 1]);
    schema = schema.replace(from, () => to);
  }
  shop.write('schema.graphql', schema);
}

/** The files of migrations, without folder and ending. */
export const migrationsOf = ({ shop }: Month): string[] =>
  readdirSync(shop.path('migrations'))
    .map((name) => name.replace('.ts', ''))
    .toSorted();

/** Removes a file that a command said to delete. */
export const remove = ({ shop }: Month, path: string): void => rmSync(shop.path(path));

/** Deletes the migration that a command says to delete. */
export function removeNamed(month: Month, text: string): void {
  const named = /delete (migrations\/\S+?\.ts)|delete (\w+) in migrations\//.exec(text);
  expect([text, named]).toEqual([text, expect.anything()]);
  remove(month, named![1] ?? `migrations/${named![2]}.ts`);
}

/** What a command prints to be typed or pasted: the group of `pattern`. */
export function printed(text: string, pattern: RegExp): string {
  expect(text).toMatch(pattern);
  return pattern.exec(text)![1]!;
}

/** Gives rows of the model other values, as a change promises to. */
export function change(month: Month, table: string, to: (row: Row) => Row): void {
  month.model[table] = month.model[table]!.map((row) => ({ ...row, ...to(row) }));
}

/** Takes a column out of the model. */
export function forget(month: Month, table: string, column: string): void {
  for (const row of month.model[table]!) delete row[column];
}

interface Step {
  readonly does: string;
  readonly object: string;
  readonly verdict: string;
  readonly atRisk: number;
  readonly keys: readonly string[];
  readonly online: boolean;
  readonly compatible: boolean;
  readonly fix?: string;
}

/** Reads `migrate plan`, which has to end with `code`: the steps of all pending migrations. */
export async function plan(month: Month, code = 0): Promise<Step[]> {
  const { stdout } = await type(month, 'migrate plan --json', code);
  const { migrations } = JSON.parse(stdout) as { migrations: { steps: Step[] }[] };
  return migrations.flatMap(({ steps }) => steps);
}

/** What holds after every change: nothing is lost, nothing is doubled, and all agree on it. */
export async function settle(month: Month, during?: (url: string) => Promise<void>): Promise<void> {
  await type(month, 'check');
  for (const { verdict, object } of await plan(month))
    expect([object, verdict]).toEqual([object, expect.stringMatching(/safe|allowed|unknown/)]);
  await type(month, 'migrate up');
  await compare(month);
  await serve(month, async (url) => {
    await during?.(url);
    await compareAnswers(month, url);
  });
  if (during) await compare(month);
}

/** Compares all rows of all tables, and the ledger without what is `pending`, with what they have to be. */
export async function compare(month: Month, pending = 0): Promise<void> {
  const { db } = month.database.store;
  for (const [table, rows] of Object.entries(month.model)) {
    const found = await db.selectFrom(table).selectAll().execute();
    expect([table, inOrder(found)]).toEqual([table, inOrder(rows)]);
  }
  const ledger = await db
    .selectFrom('twofold_migrations')
    .select('name')
    .where('steps', 'is', null)
    .execute();
  const names = ledger.map(({ name }) => String(name)).filter((name) => /^\d/.test(name));
  const files = migrationsOf(month);
  expect(names.toSorted()).toEqual(files.slice(0, files.length - pending));
}

/** Rows with values as the model writes them: keys as numbers, times as ISO texts. */
function inOrder(rows: readonly Row[]): Row[] {
  return rows
    .map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          isKey(name) && value !== null ? Number(value) : plain(value),
        ]),
      ),
    )
    .toSorted((a, b) => keyOf(a).localeCompare(keyOf(b)));
}

/** A row that was removed is marked with the time of the server, which the model takes over. */
export async function noteRemoved(month: Month, table: string, key: number): Promise<void> {
  const { db } = month.database.store;
  const [row] = await db.selectFrom(table).select('deleted_at').where('id', '=', key).execute();
  expect(row!['deleted_at']).not.toBeNull();
  change(month, table, ({ id }) => (id === key ? { deleted_at: plain(row!['deleted_at']) } : {}));
}

const isKey = (name: string) => /(^|_)id$/.test(name);

const plain = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value);

const keyOf = (row: Row): string =>
  'id' in row ? String(row['id']).padStart(9, '0') : JSON.stringify(Object.entries(row).toSorted());

/** One query of three levels has all rows that the model has, in their places. */
async function compareAnswers(month: Month, url: string): Promise<void> {
  const { data, errors } = await query(url, '{ owners { name pets { name visits { at } } } }');
  expect(errors).toBeUndefined();
  const { owners = [], visits = [] } = month.model;
  expect(data).toEqual({
    owners: owners.map((owner) => ({
      name: owner['name'],
      pets: petsOf(month, owner).map((pet) => ({
        name: pet['name'],
        visits: visits
          .filter(
            (visit) => visit['pet_id'] === pet['id'] && (visit['deleted_at'] ?? null) === null,
          )
          .map(({ at }) => ({ at })),
      })),
    })),
  });
}

/** The pets of an owner: by their own key at first, then by pairs of keys. */
function petsOf({ model }: Month, { id }: Row): Row[] {
  const pairs = model['owner_pets'];
  return model['pets']!.filter((pet) =>
    pairs
      ? pairs.some((pair) => pair['owner_id'] === id && pair['pet_id'] === pet['id'])
      : pet['owner_id'] === id,
  );
}

/** Starts the project's server as `npm start` does, for as long as `body` takes. */
export async function serve(month: Month, body: (url: string) => Promise<void>): Promise<void> {
  const child = spawn(process.execPath, ['src/server.ts'], {
    cwd: month.shop.root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  try {
    await body(await listening(child, ended));
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

function listening(child: ChildProcess, ended: Promise<void>): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      text += chunk;
      const url = /listening on (http:\/\/[^\s"]+)/.exec(text)?.[1];
      if (url) resolve(url);
    };
    child.stdout!.on('data', read);
    child.stderr!.on('data', read);
    void ended.then(() => reject(new Error(`the server ended:\n${text}`)));
  });
}

/** Posts an operation that has to succeed. */
export async function ask(url: string, text: string): Promise<any> {
  const { data, errors } = await query(url, text);
  expect([text, errors]).toEqual([text, undefined]);
  return data;
}

/** Creates a row through the API, and adds to the model what its columns have to be. */
export async function create(
  month: Month,
  url: string,
  [name, table]: readonly [string, string],
  { input, row }: { readonly input: Row; readonly row: Row },
): Promise<void> {
  const answer = await query(
    url,
    `mutation ($input: Create${name}Input!) { create${name}(input: $input) { id } }`,
    { input },
  );
  expect(answer).toEqual({ data: { [`create${name}`]: { id: expect.any(String) } } });
  month.model[table]!.push({ id: Number(answer.data[`create${name}`].id), ...row });
}

/** Runs `migrate up` in a process that is killed at a statement: the first one after `since`. */
export async function killed(
  month: Month,
  at: { readonly at: string; readonly since?: string },
  when: 'before' | 'during' | 'after',
): Promise<void> {
  const { code, stderr } = await program(['migrate', 'up'], month.shop.root, {
    NODE_OPTIONS: `--import ${new URL('kill-at.ts', import.meta.url).href}`,
    KILL_AT: at.at,
    KILL_SINCE: at.since ?? '',
    KILL_WHEN: when,
  });
  expect([code, stderr]).toEqual([75, expect.stringContaining('run the command again')]);
}

/** The commit of the transaction that has noted the migration. */
export const COMMIT = { at: '^commit', since: '^insert into "twofold_migrations"' };

export async function endMonth({ shop, database }: Month): Promise<void> {
  await database.drop();
  shop.remove();
}
