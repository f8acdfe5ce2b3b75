import type { RequestContext } from '../../context/request-context.ts';
import type { Store } from '../../store/store.ts';
import { ALL, UNRESTRICTED } from '../access/access.ts';
import { isHooked, RowHooks } from './row-hooks.ts';
import { stored } from '../sql/stored-as.ts';
import { toStored } from '../sql/values.ts';
import { missingErrors, sortInput } from './write-input.ts';
import { hooksOf, startWriting } from './writing.ts';

/** Values by the name of the column, in the form that the driver takes. */
type Columns = Readonly<Record<string, unknown>>;

interface InsertParts {
  readonly store: Store;
  readonly now: () => number;
}

interface NewRow {
  /** The name of the entity. */
  readonly entity: string;
  /** What is known of the row, for the `input` of hooks. */
  readonly row: Columns;
  readonly context: RequestContext;
}

/**
 * Runs the `create` hooks of an entity around a statement of a capability, such as the one that
 * registers a user. Call it inside a transaction: what hooks write is part of it.
 *
 * @param insert makes the row. It gets the columns that hooks add, and answers the key.
 * @throws AppError `BAD_USER_INPUT`, or what a hook throws for the caller.
 * @example insertWithHooks(kernel, { entity: 'User', row: { email }, context }, (added) => insertUser({ email, ...added }))
 */
export async function insertWithHooks<Id extends number | string>(
  { store, now }: InsertParts,
  { entity: name, row, context }: NewRow,
  insert: (added: Columns) => Promise<Id>,
): Promise<Id> {
  const parts = hooksOf(store);
  if (!parts || !isHooked(parts, name, 'create')) return insert({});
  const { model } = parts;
  const entity = model.entity(name);
  const writing = startWriting(
    { model, store, now },
    { rules: UNRESTRICTED, context },
    (text, values) => store.query(text, values),
  );
  const hooks = new RowHooks({ ...parts, caller: context }, entity, 'create');
  const known = new Map(Object.entries(row));
  const added = await hooks.resolve({}, known);
  const { values, after } = await sortInput(writing, hooks.shape, added);
  const all = new Map([...known, ...values]);
  await hooks.check(added, missingErrors(writing, entity, all, ALL));
  const columns = [...values].map(([column, value]) => [
    column,
    toStored(value, stored(model, entity, column), model.ids, store.dialect),
  ]);
  const id = await insert(Object.fromEntries(columns));
  for (const step of after) await step(String(id));
  await hooks.after(writing, String(id));
  store.afterCommit(() => writing.committed.forEach((each) => each()));
  return id;
}
