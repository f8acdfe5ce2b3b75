import { randomBytes } from 'node:crypto';
import type { Asker, Dialect, Query, Store } from '../store/store.ts';
import type { Rules } from './access.ts';
import type { Place, Statement } from './fragment.ts';
import type { Model } from './model.ts';
import { insertStatement } from './insert.ts';
import type { Call, Get, Planned, Root } from './plan.ts';
import { createScope, type Scope } from './scope.ts';
import { batchStatement, rootStatement } from './select.ts';
import { shapeOf } from './shape.ts';
import { createStatementCache } from './statement-cache.ts';
import { toStored } from './values.ts';

export type { Query } from '../store/store.ts';

/** For whom and how something is read. */
export interface Reading {
  readonly rules: Rules;
  /** The caller's user id. */
  readonly caller: number | string | null;
  /** With type names and parents of user code in it, see `Scope.tree`. */
  readonly tree: boolean;
  readonly query: Query;
  /** Who waits for it. */
  readonly asker?: Asker;
  /** The store's, where no transaction is open. */
  readonly text?: Store['text'];
  /** The store's, where a value can be had at once and no transaction is open. */
  readonly valueNow?: Store['valueNow'] | undefined;
  /** Of a batch: the keys are of rows that nobody has read for the caller yet, and lead to nothing where it may not see the row. */
  readonly unread?: boolean;
}

/** What the one statement of a root field gives. */
export type Value = string | number | null;

/** Turns plans into statements, keeps those, and runs them. */
export interface Reader {
  /** Key of what stands for something refused or missing: `{"<marker>": "FORBIDDEN" | "UNAUTHENTICATED" | "MISSING"}`. */
  readonly marker: string;
  /** @returns JSON text, a number for a count where the database has one, or null when there is no row. A promise unless the reading has `valueNow`. */
  read(root: Root, calls: readonly Call[], reading: Reading): Value | Promise<Value>;
  /** The statement that inserts a row with these columns and answers with it as `root` says, see `insertStatement`. */
  insertion(
    columns: readonly string[],
    root: Get,
    calls: readonly Call[],
    reading: Pick<Reading, 'rules' | 'tree'>,
  ): Statement;
  /** One field of many objects. @returns JSON texts in the order of the keys. */
  readBatch(
    entity: string,
    field: Planned,
    keyColumn: string,
    keys: readonly unknown[],
    calls: readonly Call[],
    reading: Reading,
  ): Promise<(string | null)[]>;
}

export function createReader(model: Model, store: Store): Reader {
  const marker = `$${randomBytes(9).toString('base64url')}`;
  const { dialect } = store;
  const statements = createStatementCache();
  const scope = (calls: readonly Call[], { rules, tree }: Pick<Reading, 'rules' | 'tree'>): Scope =>
    createScope({ model, rules, dialect, calls, marker, tree });
  return {
    marker,
    read: (root, calls, reading) => {
      const statement = statements.get(root, shapeOf(calls, reading.tree), () =>
        rootStatement(scope(calls, reading), root),
      );
      const values = bind(statement.places, model, dialect, { calls, caller: reading.caller });
      if (reading.valueNow) return (reading.valueNow(statement.text, values) ?? null) as Value;
      if (reading.text) return reading.text(statement.text, values, reading.asker);
      return reading
        .query(statement.text, values, reading.asker)
        .then((rows) => (rows[0]?.['j'] ?? null) as Value);
    },
    insertion: (columns, root, calls, reading) =>
      statements.get(root, `${columns.join()}|${shapeOf(calls, reading.tree)}`, () =>
        insertStatement(scope(calls, reading), columns, root),
      ),
    readBatch: async (entity, field, keyColumn, keys, calls, reading) => {
      const statement = statements.get(
        field,
        `${reading.unread ? 'unread' : ''}${shapeOf(calls, reading.tree)}`,
        () => batchStatement(scope(calls, reading), entity, field, keyColumn, reading.unread),
      );
      // Whether it may be asked at all is known by now.
      if (keys.length === 0) return [];
      const rows = await reading.query(
        statement.text,
        bind(statement.places, model, dialect, { calls, caller: reading.caller, keys }),
        reading.asker,
      );
      const values: (string | null)[] = keys.map(() => null);
      for (const { i, j } of rows) values[Number(i)] = j as string | null;
      return values;
    },
  };
}

/** Where the values of places are found. */
export interface Bound {
  readonly calls?: readonly Call[];
  readonly caller: number | string | null;
  readonly keys?: readonly unknown[];
  readonly row?: ReadonlyMap<string, unknown>;
}

/** The values of the places, in their order. */
export function bind(
  places: readonly Place[],
  { ids }: Model,
  dialect: Dialect,
  bound: Bound,
): unknown[] {
  const values: unknown[] = [];
  for (const place of places) values.push(toStored(valueOf(place, bound), place.as, ids, dialect));
  return values;
}

function valueOf(place: Place, { calls, caller, keys, row }: Bound): unknown {
  switch (place.from) {
    case 'call':
      return valueAt(calls?.[place.call], place.path);
    case 'caller':
      return caller;
    case 'keys':
      return keys ?? [];
    case 'row':
      return row?.get(place.column);
    case 'value':
      return place.value;
  }
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let current = value as any;
  for (const step of path) current = current?.[step];
  return current;
}
