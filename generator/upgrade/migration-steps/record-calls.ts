import { createContext, runInContext } from 'node:vm';

/** One call of a chain: `addColumn('id', 'key')`. */
export interface Call {
  readonly name: string;
  readonly args: readonly unknown[];
}

/** The calls on `db` of one statement, as `db.schema.dropTable('posts').execute()` has two. */
export type Calls = readonly Call[];

export interface RecordedCalls {
  readonly up: readonly Calls[];
  readonly down: readonly Calls[];
  readonly ids: 'integer' | 'uuid';
  readonly allowLoss: readonly string[];
  readonly replaces: readonly string[];
}

const CALLS = Symbol('the calls of a builder');
const TYPES = /\(db: Kysely<any>\): Promise<void>/g;

/**
 * Runs `up` and `down` of a file that 0.1.0 wrote, without a database. Only the words that such a
 * file has are there.
 *
 * @throws Error for a file that has others.
 */
export async function recordCalls(text: string): Promise<RecordedCalls> {
  const script = text
    .replace(/^import [^;]*;$/gm, '')
    .replace(TYPES, '(db)')
    .replace(/^export /gm, '');
  let ids: RecordedCalls['ids'] = 'integer';
  let statements: Calls[] = [];
  const note = (calls: Calls) => void statements.push(calls);
  const single = (name: string) => (_db: unknown, given: unknown) =>
    note([{ name, args: [given] }]);
  const words = createContext({
    columnTypes: (_db: unknown, kind?: 'uuid') => {
      ids = kind ?? ids;
      return new Proxy({}, { get: (_types, name) => name });
    },
    sql: ([text, ...others]: readonly string[]) => {
      if (others.length > 0) throw new Error('SQL with values');
      return text;
    },
    alterTable: (_db: unknown, table: string) => chain([{ name: 'alter', args: [table] }], note),
    createFoldedIndex: single('createFoldedIndex'),
    createSearchIndex: single('createSearchIndex'),
    dropSearchIndex: single('dropSearchIndex'),
  });
  const valueOf = (expression: string) =>
    runInContext(`(() => {${script}\nreturn ${expression};})()`, words);
  const run = async (name: 'up' | 'down') => {
    statements = [];
    await valueOf(name)(chain([], note));
    return statements;
  };
  const [up, down] = [await run('up'), await run('down')];
  const list = (name: string) => (text.includes(`const ${name} =`) ? valueOf(name) : []);
  return { up, down, ids, allowLoss: list('allowLoss'), replaces: list('replaces') };
}

/** A builder that only notes its calls. `execute` ends a statement. */
function chain(calls: Calls, note: (calls: Calls) => void): unknown {
  const builder: unknown = new Proxy(() => {}, {
    get: (_target, name) => {
      if (name === CALLS) return calls;
      if (name === 'then') return undefined;
      if (name === 'schema') return builder;
      if (name === 'execute') return () => note(calls);
      return (...args: unknown[]) => chain([...calls, { name: String(name), args }], note);
    },
  });
  return builder;
}

/** The calls that a definition makes, as `(column) => column.notNull()`. */
export function callsIn(build: unknown): Calls {
  if (typeof build !== 'function') return [];
  const built = build(chain([], () => {})) as { readonly [CALLS]: Calls };
  return built[CALLS];
}
