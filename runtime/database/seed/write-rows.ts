import type { Write, WriteShape } from '@twofold/schema';
import {
  createFrom,
  type EntityModel,
  reference,
  type Rules,
  run,
  type SeedValues,
  sql,
  tableOf,
  toFailure,
  UNRESTRICTED,
  updateFrom,
  valueOf,
  type Writing,
} from '@twofold/runtime/data';
import { keep, type Ledger } from './ledger.ts';
import type { Ordered } from './order-rows.ts';
import type { CheckedRow, Link, SeedFinding, SeedReport } from './seed-row.ts';

/** Rolls the transaction back. */
export class SeedRefused extends Error {
  readonly findings: readonly SeedFinding[];
  constructor(findings: readonly SeedFinding[]) {
    super('the rows were refused');
    this.findings = findings;
  }
}

export interface Progress {
  (done: number, total: number): void;
}

/**
 * Seeds are run by someone with access to the database itself, so access rules do not apply. Values
 * are still checked.
 */
export const OPERATOR: Rules = {
  ...UNRESTRICTED,
  callerClass: 'seed',
  signedIn: false,
  writesIdentity: true,
  joined: () => OPERATOR,
};

export interface Loading {
  readonly ledger: Ledger;
  readonly progress: Progress;
  /** The values of an entity's rows that a capability takes. */
  takes(entity: string): SeedValues | undefined;
}

/**
 * Writes the rows as mutations do. A row of an earlier run is left alone while it is unchanged in
 * the file, updated when the file has changed, and created again when it is gone.
 *
 * @throws SeedRefused with the row that the database refused.
 */
export async function writeRows(
  writing: Writing,
  { order, later }: Ordered,
  { ledger, progress, takes }: Loading,
): Promise<Omit<SeedReport, 'findings'>> {
  const counts = { inserted: 0, updated: 0, unchanged: 0 };
  const ids = new Map<number, string>();
  const written: { readonly row: CheckedRow; readonly id: string }[] = [];
  for (const [at, row] of order.entries()) {
    const done = await refusing(row, () =>
      writeRow(writing, row, { ledger, ids, waiting: later.get(row.index) ?? [], takes }),
    );
    ids.set(row.index, done.id);
    counts[done.kind] += 1;
    if (done.kind !== 'unchanged') written.push({ row, id: done.id });
    progress(at + 1, order.length);
  }
  for (const { row, id } of written) {
    const links = later.get(row.index);
    if (links)
      await refusing(row, () =>
        updateFrom(fresh(writing), shapeOf(writing, row.type), id, inputOf(links, ids)),
      );
  }
  await keep(writing, written);
  return counts;
}

interface RowWriting {
  readonly ledger: Ledger;
  readonly ids: ReadonlyMap<number, string>;
  readonly waiting: readonly Link[];
  readonly takes?: Loading['takes'];
}

async function writeRow(
  writing: Writing,
  row: CheckedRow,
  { ledger, ids, waiting, takes }: RowWriting,
): Promise<{ readonly id: string; readonly kind: 'inserted' | 'updated' | 'unchanged' }> {
  const seeded = ledger.get(row.type)?.get(row.identity);
  const there =
    seeded !== undefined && (await exists(writing, writing.model.entity(row.type), seeded.id));
  if (there && seeded.hash === row.hash) return { id: seeded.id, kind: 'unchanged' };
  const input = {
    ...row.columns,
    ...inputOf(
      row.links.filter((link) => !waiting.includes(link)),
      ids,
    ),
  };
  const shape = shapeOf(writing, row.type);
  const id = there ? seeded.id : await createFrom(fresh(writing), shape, input);
  if (there) await updateFrom(fresh(writing), shape, id, input);
  if (Object.keys(row.taken).length > 0) await takes?.(row.type)?.write(id, row.taken);
  return { id, kind: there ? 'updated' : 'inserted' };
}

/**
 * Each row gets its own list of changes: one list for the whole file would be searched for each
 * row. A seed announces no changes.
 */
const fresh = (writing: Writing): Writing => ({ ...writing, changes: [] });

async function exists(writing: Writing, entity: EntityModel, id: string): Promise<boolean> {
  const rows = await run(
    writing,
    sql`select 1 from ${tableOf(writing, entity)} where ${reference(entity, tableOf(writing, entity), 'id')} = ${valueOf(writing, entity, 'id', id)}`,
  );
  return rows.length > 0;
}

function inputOf(
  links: readonly Link[],
  ids: ReadonlyMap<number, string>,
): Record<string, unknown> {
  return Object.fromEntries(
    links.map(({ field, targets, many }) => {
      const keys = targets.map((target) => ('id' in target ? target.id : ids.get(target.row)));
      return [field, many ? keys : (keys[0] ?? null)];
    }),
  );
}

/** An input type with every field under its own name. */
function shapeOf({ model }: Writing, type: string): WriteShape {
  const { entity } = model.entity(type);
  const writes = entity.fields.flatMap(({ name: field, source }): Write[] => {
    if (source.kind === 'column') return [{ kind: 'column', name: field, column: source.column }];
    if (source.kind === 'one') return [{ kind: 'key', name: field, field }];
    return source.kind === 'many' ? [{ kind: 'keys', name: field, field }] : [];
  });
  return { id: `seed:${type}`, entity: type, writes };
}

async function refusing<T>(row: CheckedRow, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const failure = toFailure(error);
    if (!failure) throw error;
    throw new SeedRefused([{ row: row.index, message: failure.message, ...fieldOf(failure) }]);
  }
}

function fieldOf({
  extensions,
}: {
  readonly extensions?: Readonly<Record<string, unknown>> | undefined;
}): { readonly field?: string } {
  const fields = extensions?.['fields'];
  const field = extensions?.['field'] ?? (Array.isArray(fields) ? fields[0] : undefined);
  return typeof field === 'string' ? { field } : {};
}
