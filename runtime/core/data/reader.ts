import type { JsonText } from '../store/large-text.ts';
import { randomBytes } from 'node:crypto';
import { type Asker, type AnswerLimits, type Bounds, resultTooLarge } from '../store/bounds.ts';
import type { Dialect, Query, Store } from '../store/store.ts';
import type { Rules } from './access/access.ts';
import { claimValue } from './access/claims.ts';
import type { Parameter, Statement } from './sql/fragment.ts';
import type { Model } from './model.ts';
import { insertStatement } from './select/insert.ts';
import { createOverflowing } from './select/overflowing.ts';
import { type NoteCut, ToldPages } from './select/pages.ts';
import type { Call, Get, Planned, Root } from './plan.ts';
import { createScope, type Scope } from './sql/scope.ts';
import { batchStatement, rootStatement } from './select/select.ts';
import { statementKey, createStatementCache } from './statement-key.ts';
import { organizationsWith } from './access/row-condition.ts';
import { toStored } from './sql/values.ts';

export type { Query } from '../store/store.ts';

/** Who reads, and which form of the result they need. */
export interface Reading {
  readonly rules: Rules;
  /** Whether the answer has type names and the parents of user code, see `Scope.tree`. */
  readonly tree: boolean;
  /** The query function of the transaction that the read belongs to, if any. */
  readonly query?: Query | undefined;
  /** The caller that waits for the result. */
  readonly asker?: Asker | undefined;
  /** Whether the rows go to a function of the user, and not into an answer. */
  readonly own?: boolean;
  /**
   * For batches whose parent rows were read without the caller's rules: a parent that the caller
   * may not see gives nothing.
   */
  readonly unread?: boolean;
  /** Whether a large text may be returned as `LargeText`. */
  readonly large?: boolean | undefined;
  /** Is told of lists that have more rows than the page that nobody asked for. */
  readonly noteCut?: NoteCut | undefined;
}

/** What decides the text of a statement, apart from its plan and arguments. */
type Form = Pick<Scope, 'rules' | 'tree' | 'pages'>;

/** The result of the statement of a root field. */
export type Value = JsonText | number | null;

/** Turns plans into statements, caches the statements, and runs them. */
export interface Reader {
  /**
   * Key of the object that stands for a value that is missing or that the caller may not see:
   * `{"<marker>": "FORBIDDEN" | "UNAUTHENTICATED" | "MISSING"}`.
   */
  readonly marker: string;
  /**
   * @returns JSON text, a number for a count, or null when there is no row. It is not a promise
   * when the database answers synchronously.
   */
  read(root: Root, calls: readonly Call[], reading: Reading): Value | Promise<Value>;
  /** Whether the read may take long, see `ReadStatement`. */
  isLong(root: Root, calls: readonly Call[], reading: Pick<Reading, 'rules' | 'tree'>): boolean;
  /**
   * The statement that inserts a row with these columns and returns what `root` shows of it, see
   * `insertStatement`.
   */
  insertion(
    columns: readonly string[],
    root: Get,
    calls: readonly Call[],
    reading: Pick<Reading, 'rules' | 'tree'>,
  ): Statement;
  /** Reads one field of many objects. @returns JSON texts in the order of the keys. */
  readBatch(
    entity: string,
    field: Planned,
    keyColumn: string,
    keys: readonly unknown[],
    calls: readonly Call[],
    reading: Reading,
  ): Promise<(string | null)[]>;
}

/** @param marker that of another reader, when its answers are completed together with these. */
export function createReader(
  model: Model,
  store: Store,
  marker = `$${randomBytes(9).toString('base64url')}`,
): Reader {
  const { dialect } = store;
  const { limits } = model.project.api;
  const statements = createStatementCache();
  const overflowing = createOverflowing();
  const told = new ToldPages(marker);
  const scope = (calls: readonly Call[], { rules, tree, pages }: Form, wide = false): Scope =>
    createScope({ model, rules, dialect, calls, marker, tree, wide, pages });
  const keyOf = (calls: readonly Call[], { tree, pages }: Form, wide: boolean) =>
    `${pages ?? ''}${wide ? 'wide' : ''}${statementKey(calls, tree)}`;
  const rootOf = (root: Root, calls: readonly Call[], form: Form, wide = false): Statement =>
    statements.get(root, keyOf(calls, form, wide), () =>
      rootStatement(scope(calls, form, wide), root),
    );
  const readRoot = (
    root: Root,
    calls: readonly Call[],
    reading: Reading,
    pages?: Form['pages'],
  ) => {
    const form = { rules: reading.rules, tree: reading.tree, pages };
    const statement = rootOf(root, calls, form);
    const from = { model, store };
    if (!statement.overflows) return answerOf(from, statement, calls, reading);
    return overflowing.read(root, (wide) =>
      answerOf(from, wide ? rootOf(root, calls, form, true) : statement, calls, reading),
    );
  };
  return {
    marker,
    isLong: (root, calls, reading) => rootOf(root, calls, reading).long,
    read: (root, calls, reading) =>
      told.read({ node: root, calls, reading }, (pages) => readRoot(root, calls, reading, pages)),
    insertion: (columns, root, calls, reading) =>
      statements.get(root, `${columns.join()}|${statementKey(calls, reading.tree)}`, () =>
        insertStatement(scope(calls, reading, true), columns, root),
      ),
    readBatch: async (entity, field, keyColumn, keys, calls, reading) => {
      const { rules, tree, unread } = reading;
      const statementOf = (wide: boolean, pages?: Form['pages']) => {
        const form = { rules, tree, pages };
        return statements.get(field, `${unread ? 'unread' : ''}${keyOf(calls, form, wide)}`, () =>
          batchStatement(scope(calls, form, wide), entity, field, keyColumn, unread),
        );
      };
      // The access is checked when the statement is made, so the empty answer comes only after it.
      if (keys.length === 0) return statementOf(false) && [];
      const bound = {
        calls,
        rules: reading.rules,
        keys,
        bytes: limits.result,
      };
      const bounds = boundsOf(limits, reading);
      const run = ({ text, long, parameters }: Statement) => {
        const values = bind(parameters, model, dialect, bound);
        return reading.query
          ? reading.query(text, values, bounds)
          : store.answerRows({ text, long }, values, bounds);
      };
      return told.read({ node: field, calls, reading }, async (pages) => {
        const statement = statementOf(false, pages);
        const rows = statement.overflows
          ? await overflowing.read(field, (wide) => run(statementOf(wide, pages)))
          : await run(statement);
        const values: (string | null)[] = keys.map(() => null);
        for (const { i, j } of rows) values[Number(i)] = ofAllowedSize(limits, j) as string | null;
        return values;
      });
    },
  };
}

/** The result of a statement with the values of one call. */
function answerOf(
  { model, store }: { readonly model: Model; readonly store: Store },
  statement: Statement,
  calls: readonly Call[],
  reading: Reading,
): Value | Promise<Value> {
  const { limits } = model.project.api;
  const { rules } = reading;
  const bound = { calls, rules, bytes: limits.result };
  const values = bind(statement.parameters, model, store.dialect, bound);
  const bounds = boundsOf(limits, reading);
  if (reading.query)
    return reading
      .query(statement.text, values, bounds)
      .then((rows) => ofAllowedSize(limits, rows[0]?.['j'] ?? null));
  const value = store.answer(statement, values, bounds);
  return value instanceof Promise
    ? value.then((text) => ofAllowedSize(limits, text))
    : ofAllowedSize(limits, value);
}

/** Used for reads without a caller that may go away: only the limits end the statement. */
const NEVER_CANCELLED: Asker = { cancelled: false };

const boundsOf = (
  limits: AnswerLimits,
  { asker = NEVER_CANCELLED, own = false, large }: Reading,
): Bounds => ({
  asker,
  // A job of the project's own code has no request that ends.
  limits: own && asker === NEVER_CANCELLED ? { ...limits, time: Infinity } : limits,
  sent: !own && asker !== NEVER_CANCELLED,
  large,
});

/**
 * @throws AppError when the database reports that the value exceeds the answer limit, see
 * `bounded`.
 */
function ofAllowedSize(limits: AnswerLimits, value: unknown): Value {
  if (typeof value === 'string' && value.startsWith('!'))
    throw resultTooLarge(limits, Number(value.slice(1)));
  return value as Value;
}

/** The sources from which `bind` takes the values of parameters. */
export interface Bound {
  readonly calls?: readonly Call[];
  readonly rules?: Pick<Rules, 'caller' | 'organizations' | 'claims'>;
  readonly keys?: readonly unknown[];
  readonly row?: ReadonlyMap<string, unknown>;
  readonly bytes?: number;
}

/** The values of the parameters, in their order. */
export function bind(
  parameters: readonly Parameter[],
  { ids }: Model,
  dialect: Dialect,
  bound: Bound,
): unknown[] {
  const values: unknown[] = [];
  for (const parameter of parameters)
    values.push(toStored(valueOf(parameter, bound), parameter.as, ids, dialect));
  return values;
}

function valueOf(parameter: Parameter, bound: Bound): unknown {
  const { calls, rules, keys, row, bytes } = bound;
  switch (parameter.from) {
    case 'call':
      return valueAt(calls?.[parameter.call], parameter.path);
    case 'caller':
      return rules?.caller ?? null;
    case 'organizations':
      return organizationKeys(parameter, bound);
    case 'claim':
      return claimValue(bound.rules?.claims ?? null, parameter.claim, parameter.as);
    case 'keys':
      return keys ?? [];
    case 'row':
      return row?.get(parameter.column);
    case 'bytes':
      return bytes;
    case 'value':
      return parameter.value;
  }
}

function organizationKeys(
  { roles, as }: Extract<Parameter, { from: 'organizations' }>,
  { rules }: Bound,
): unknown {
  const keys = organizationsWith(rules?.organizations ?? [], roles).map(({ id }) => id);
  return as.many ? keys : keys[0];
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let current = value as any;
  for (const step of path) current = current?.[step];
  return current;
}
