import type { Action } from '@twofold/schema';
import { refusal, rootAccess, type Access, type Rules } from '../access/access.ts';
import { found, type Model } from '../model.ts';
import { findOrCreate, givenKey, keyColumns } from './row-key.ts';
import { createFrom, updateFrom } from './write-input.ts';
import type { WriteRequest } from './write-request.ts';
import type { Key, Writing } from './writer.ts';
import { failure } from '../../errors.ts';

type Upsert = Extract<Action, { kind: 'upsert' }>;
type UpsertCall = Pick<WriteRequest<unknown>, 'operation' | 'args' | 'rules'>;

/** A row that another caller removes between two statements is looked for again. */
const ATTEMPTS = 3;

/**
 * Updates the row with the key, or creates it. The rules of the one that happens are checked.
 *
 * @returns the id of the row.
 */
export async function upsertRow(
  writing: Writing,
  action: Upsert,
  { operation, args, rules }: UpsertCall,
): Promise<Key> {
  const entity = writing.model.entity(action.entity);
  const key = givenKey(action.by, args, keyArgument(action));
  const shape = (id: string) => found(writing.model.writes.get(id), `input ${id}`);
  const access = (verb: 'CREATE' | 'UPDATE') =>
    upsertAccess(writing.model, rules, { operation, verb });
  const input = (name: string) => (args[name] ?? {}) as Readonly<Record<string, unknown>>;
  const sought = {
    key,
    usable: [writing.rules.entity(entity.entity, 'READ'), access('UPDATE')],
  };
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const { id, created } = await findOrCreate(writing, entity, sought, (inner) =>
      createFrom(inner, shape(action.create.write), input(action.create.input), {
        access: access('CREATE'),
        fallback: keyColumns(entity, key),
      }),
    );
    const { write, input: name } = action.update;
    if (created || (await updateFrom(writing, shape(write), id, input(name), access('UPDATE'))))
      return id;
  }
  throw failure.conflict(`${action.entity} is changed by others at the same time`);
}

/** The argument of the key, for messages: `where`, `input`. */
const keyArgument = ({ by }: Upsert) => Object.keys(by[0] ?? {})[0]?.split('.')[0] ?? '';

/**
 * Checks that the caller may update or create.
 *
 * @throws AppError when they may do neither.
 */
export function assertUpsert(model: Model, rules: Rules, operation: UpsertCall['operation']): void {
  const verbs = ['CREATE', 'UPDATE'] as const;
  const accesses = verbs.map((verb) => upsertAccess(model, rules, { operation, verb }));
  const [create] = accesses;
  if (create?.kind === 'none' && accesses.every(({ kind }) => kind === 'none'))
    throw refusal(create.code);
}

function upsertAccess(
  model: Model,
  rules: Rules,
  { operation, verb }: { operation: UpsertCall['operation']; verb: 'CREATE' | 'UPDATE' },
): Access {
  const { entity } = operation.action as Upsert;
  return rootAccess(model, rules, rules.operation(operation, verb), entity, verb);
}
